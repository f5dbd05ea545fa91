import Base
import Mdoc

/// Whoever gathers the answers to questions of revocation. It never throws: what can't be found out is undetermined, for
/// a stated reason.
public protocol RevocationSource: Sendable {
  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence
}

/// Asks nobody: whatever is declared is undetermined.
public struct NoRevocationSource: RevocationSource {
  public init() {}

  public func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    RevocationEvidence()
  }
}
