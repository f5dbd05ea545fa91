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

/// Lets each relying party read a few lists at one time: what one asks for beyond waits, and nobody else with it.
final class ListTurns: Sendable {
  private struct Party {
    var running = 0
    /// Those who wait, in order.
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let parties = Locked<[String: Party]>([:])

  /// Reads when it is the relying party's turn, and makes of it what is answered; or throws `api.overloaded` where too many wait already.
  func take<Value: Sendable>(
    _ relyingParty: String, _ read: () async throws(StoreError) -> Value
  ) async throws(ServiceError) -> Value {
    let isAdmitted = await withCheckedContinuation { continuation in
      let answer: Bool? = parties.withLock { parties in
        var party = parties[relyingParty] ?? Party()
        defer { parties[relyingParty] = party }
        if party.running < Limits.lists {
          party.running += 1
          return true
        }
        guard party.waiting.count < Limits.waitingLists else { return false }
        party.waiting.append(continuation)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
    guard isAdmitted else {
      throw ServiceError(.apiOverloaded, "This relying party reads too many lists at one time.", retryAfter: 1)
    }
    defer { leave(relyingParty) }
    do { return try await read() } catch { throw ServiceError(error) }
  }

  func waiting(_ relyingParty: String) -> Int { parties.withLock { $0[relyingParty]?.waiting.count ?? 0 } }

  private func leave(_ relyingParty: String) {
    let next: CheckedContinuation<Bool, Never>? = parties.withLock { parties in
      guard var party = parties[relyingParty] else { return nil }
      // Whoever is next takes the place over.
      let next = party.waiting.isEmpty ? nil : party.waiting.removeFirst()
      if next == nil { party.running -= 1 }
      parties[relyingParty] = party.running > 0 ? party : nil
      return next
    }
    next?.resume(returning: true)
  }
}
