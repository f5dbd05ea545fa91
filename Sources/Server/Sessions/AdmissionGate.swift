import Base

/// Bounds the answers in work: what the processors cannot do in time is refused before its challenge is consumed.
final class AdmissionGate: Sendable {
  private let limit: Int
  private let count = Locked(0)

  init(limit: Int) { self.limit = limit }

  func enter() throws(ServiceError) {
    let isAdmitted = count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard isAdmitted else { throw ServiceError(.apiOverloaded, retryAfter: 1) }
  }

  func leave() { count.withLock { $0 -= 1 } }

  /// Runs the body, which waits for somebody outside, with this answer's place lent to another. It comes back whether or
  /// not there is a place: its challenge is consumed, so that it must come to its end.
  func lend<R: Sendable>(while body: () async -> R) async -> R {
    leave()
    defer { count.withLock { $0 += 1 } }
    return await body()
  }
}
