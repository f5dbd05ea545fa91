import Base
import HTTP
import Mdoc
import Trust

/// Revocation by another source, with the request's place lent to others while publishers are waited for: one that
/// hangs must hold up nobody but those who ask for its lists.
struct UnhurriedRevocation: RevocationSource {
  let source: any RevocationSource

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    guard !questions.isEmpty else { return await source.evidence(for: questions, at: now) }
    return await HandlingPlace.lend { await source.evidence(for: questions, at: now) }
  }
}
