import Base
import Glibc

/// Bounds the answers in work, of all relying parties and of each. An answer that the processors cannot verify in time
/// is refused before its challenge is consumed.
final class AdmissionGate: Sendable {
  private let limit: Int
  /// The most of one relying party, so that one cannot take the places of all.
  private let share: Int
  private typealias Counts = (all: Int, each: [Flow: Int])
  private let counts = Locked<Counts>((all: 0, each: [:]))

  init(limit: Int) {
    self.limit = limit
    share = max(1, limit / 2)
  }

  func enter(_ party: Flow) throws(ServiceError) {
    let isAdmitted = counts.withLock { counts in
      guard counts.all < limit, counts.each[party, default: 0] < share else { return false }
      Self.add(1, party, &counts)
      return true
    }
    guard isAdmitted else { throw ServiceError(.apiOverloaded, retryAfter: 1) }
  }

  func leave(_ party: Flow) { counts.withLock { Self.add(-1, party, &$0) } }

  /// Runs the body, which waits for somebody outside, and meanwhile lends this answer's place to another. Afterwards
  /// this answer goes on even if no place is free: its challenge is consumed, so it must come to its end.
  func lend<R: Sendable>(of party: Flow, while body: () async -> R) async -> R {
    leave(party)
    defer { counts.withLock { Self.add(1, party, &$0) } }
    return await body()
  }

  private static func add(_ number: Int, _ party: Flow, _ counts: inout Counts) {
    counts.all += number
    counts.each[party, default: 0] += number
  }
}

/// Lets few answers be verified at one time that may hold zero-knowledge proofs.
///
/// A proof takes a processor a hundred times as long as a plain answer. So one processor is kept free of proofs, and
/// answers that may hold one wait until the relying party has its turn.
final class ProofTurns: Sendable {
  private struct State {
    var running = 0
    var waiting = FairQueue<CheckedContinuation<Void, Never>>()
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)) { self.limit = limit }

  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Returns when it is this answer's turn, which lasts until `leave`.
  func take(_ party: Flow) async {
    await withCheckedContinuation { continuation in
      next { $0.waiting.append(continuation, of: party) }
    }
  }

  /// - Parameter cost: the nanoseconds that the turn took.
  func leave(_ party: Flow, cost: Int64) {
    next { state in
      state.waiting.end(party, cost: cost)
      state.running -= 1
    }
  }

  private func next(after change: (inout State) -> Void) {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      change(&state)
      guard state.running < limit, let next = state.waiting.popFirst() else { return nil }
      state.running += 1
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
