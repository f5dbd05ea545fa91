import Base

/// How much of the store one relying party may have; nil for any amount.
///
/// What is beyond refuses new sessions, and replies that would be kept; never an answer to a session that there is.
package struct Quota: Sendable, Hashable {
  /// Sessions that still may be answered.
  package var openSessions: Int64?
  /// Of its sessions with all that is kept of them.
  package var bytes: Int64?
  /// Of replies that are kept under idempotency keys.
  package var idempotencyBytes: Int64?

  package static let standard = Quota(
    openSessions: Limits.openSessions, bytes: Limits.storedBytes, idempotencyBytes: Limits.idempotencyBytes)

  package init(openSessions: Int64?, bytes: Int64?, idempotencyBytes: Int64?) {
    self.openSessions = openSessions
    self.bytes = bytes
    self.idempotencyBytes = idempotencyBytes
  }

  /// What of it is used up, in a word for people.
  func excess(of usage: StoreUsage, forSession: Bool) -> String? {
    if forSession, let openSessions, usage.openSessions >= openSessions { return "\(openSessions) open sessions" }
    if forSession, let bytes, usage.bytes >= bytes { return "\(bytes) bytes of sessions" }
    if !forSession, let idempotencyBytes, usage.idempotencyBytes >= idempotencyBytes {
      return "\(idempotencyBytes) bytes of replies under idempotency keys"
    }
    return nil
  }
}
