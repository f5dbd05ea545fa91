import Base
import Sessions

/// A session whose attempt the sweep found interrupted.
struct InterruptedRow {
  static let columns = "id, relying_party, attempt, attempt_protocol, consumed_at"

  let id: String
  let relyingParty: String
  private let attempt: String
  private let protocolName: String?
  private let consumedAt: Int64

  init(_ row: some StoredRow) {
    id = row.text(0)
    relyingParty = row.text(1)
    attempt = row.text(2)
    protocolName = row.optionalText(3)
    consumedAt = row.integer(4)
  }

  /// What is written of its attempt.
  func entry(at now: Timestamp, isLive: Bool) throws(StoreError) -> AuditEntry {
    guard let session = SessionID(id), let attempt = AttemptID(attempt) else { throw .corrupt("an attempt") }
    return AuditEntry(
      unfinished: SessionState.Attempt(
        id: attempt, protocolName: protocolName, startedAt: Timestamp(secondsSince1970: consumedAt)),
      of: SessionAddress(relyingParty: relyingParty, id: session), .interrupted, at: now, isLive: isLive)
  }
}
