import Base
import Glibc

/// Bounds the answers in work. An answer that the processors cannot verify in time is refused before its challenge is
/// consumed.
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

  /// Runs the body, which waits for somebody outside, and meanwhile lends this answer's place to another. Afterwards
  /// this answer goes on even if no place is free: its challenge is consumed, so it must come to its end.
  func lend<R: Sendable>(while body: () async -> R) async -> R {
    leave()
    defer { count.withLock { $0 += 1 } }
    return await body()
  }
}

/// Lets few answers be verified at one time that may hold zero-knowledge proofs.
///
/// A proof takes a processor a hundred times as long as a plain answer. So one processor is kept free of proofs, and
/// answers that may hold one wait for their turn.
final class ProofTurns: Sendable {
  private struct Queue {
    var running = 0
    /// The answers that wait, first come first.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let limit: Int
  private let queue = Locked(Queue())

  init(limit: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)) { self.limit = limit }

  var waiting: Int { queue.withLock { $0.waiting.count } }

  /// Returns when it is this answer's turn, which lasts until `leave`.
  func take() async {
    await withCheckedContinuation { continuation in
      let isTurn = queue.withLock { queue in
        guard queue.running >= limit else {
          queue.running += 1
          return true
        }
        queue.waiting.append(continuation)
        return false
      }
      if isTurn { continuation.resume() }
    }
  }

  func leave() {
    let next: CheckedContinuation<Void, Never>? = queue.withLock { queue in
      // The next answer takes this turn over, so the number of running ones stays.
      let next = queue.waiting.isEmpty ? nil : queue.waiting.removeFirst()
      if next == nil { queue.running -= 1 }
      return next
    }
    next?.resume()
  }
}

/// Lets each relying party read a few lists at one time. Further reads of that party wait; those of others do not.
final class ListTurns: Sendable {
  private struct Party {
    var running = 0
    /// The reads that wait, first come first.
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let parties = Locked<[String: Party]>([:])

  /// Reads when it is the relying party's turn, and returns what was read.
  ///
  /// - Throws: `api.overloaded` if too many of its reads wait already.
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
      // The next read takes this place over, so the number of running reads stays.
      let next = party.waiting.isEmpty ? nil : party.waiting.removeFirst()
      if next == nil { party.running -= 1 }
      parties[relyingParty] = party.running > 0 ? party : nil
      return next
    }
    next?.resume(returning: true)
  }
}
