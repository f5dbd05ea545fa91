import Base
import Glibc

/// Limits on one relying party's use of the store. Nil means no limit. A response to an existing session is never
/// refused.
package struct Quota: Sendable, Hashable {
  /// Sessions that still accept a response.
  package var openSessions: Int64?
  /// Bytes of the relying party's sessions and of all data kept with them.
  package var bytes: Int64?
  /// Bytes of replies kept under idempotency keys.
  package var idempotencyBytes: Int64?

  package static let standard = Quota(
    openSessions: Limits.openSessions, bytes: Limits.storedBytes, idempotencyBytes: Limits.idempotencyBytes)

  package init(openSessions: Int64?, bytes: Int64?, idempotencyBytes: Int64?) {
    self.openSessions = openSessions
    self.bytes = bytes
    self.idempotencyBytes = idempotencyBytes
  }

  func excess(of usage: StoreUsage, forSession: Bool) -> String? {
    if forSession, let openSessions, usage.openSessions >= openSessions { return "\(openSessions) open sessions" }
    if forSession, let bytes, usage.bytes >= bytes { return "\(bytes) bytes of sessions" }
    if !forSession, let idempotencyBytes, usage.idempotencyBytes >= idempotencyBytes {
      return "\(idempotencyBytes) bytes of replies under idempotency keys"
    }
    return nil
  }
}

/// Estimates the usage of relying parties: the last count plus the additions of this process since then. Usage is
/// counted at intervals. Before a refusal, it is counted again if the last count is older than a second, unless a count
/// is running. Servers that share a store see each other's usage only by counting, so quotas can be exceeded briefly.
final class UsageEstimates: Sendable {
  private struct Entry {
    var counted = StoreUsage()
    /// Additions since the last count began. Earlier additions remain until a count succeeds.
    var added = StoreUsage()
    var before = StoreUsage()
    var isCounting = false
    var hasNews = false
    var countedAt: Timestamp?
    /// The time of the next background count.
    var due = Timestamp(secondsSince1970: 0)

    var estimate: StoreUsage { counted + before + added }
  }

  /// The pause between background counts: `interval` seconds or, if longer, `factor` times the last count's duration.
  private static let interval: Int64 = 10
  private static let factor = 50.0

  private let entries = Locked<[String: Entry]>([:])

  func estimate(of relyingParty: String) -> StoreUsage {
    entries.withLock { $0[relyingParty]?.estimate ?? StoreUsage() }
  }

  func note(_ change: StoreUsage, of relyingParty: String) {
    entries.withLock { entries in
      entries[relyingParty, default: Entry()].added += change
      entries[relyingParty, default: Entry()].hasNews = true
    }
  }

  /// True if a background count is due. If the relying party has added nothing since the last count, none is due.
  func isDue(_ relyingParty: String, at now: Timestamp) -> Bool {
    entries.withLock { entries in entries[relyingParty].map { $0.hasNews && !$0.isCounting && now >= $0.due } ?? false }
  }

  /// True if the last count is too old to justify a refusal, and a new count may begin.
  func isStale(_ relyingParty: String, at now: Timestamp) -> Bool {
    entries.withLock { entries in
      guard let entry = entries[relyingParty] else { return true }
      return !entry.isCounting && entry.countedAt.map { now > $0 } ?? true
    }
  }

  /// Counts, unless a count is running. Additions made during the count are added to its result, since the count can
  /// miss them.
  /// - Parameter read: reads the usage; returns nil if this fails. The last estimate then remains.
  func count(_ relyingParty: String, at now: Timestamp, _ read: () async -> StoreUsage?) async {
    let begins = entries.withLock { entries in
      var entry = entries[relyingParty] ?? Entry()
      guard !entry.isCounting else { return false }
      entry.isCounting = true
      entry.before += entry.added
      entry.added = StoreUsage()
      entry.hasNews = false
      entries[relyingParty] = entry
      return true
    }
    guard begins else { return }
    let start = ContinuousClock.now
    let usage = await read()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    entries.withLock { entries in
      var entry = entries[relyingParty] ?? Entry()
      entry.isCounting = false
      entry.due = now + max(Self.interval, Int64(seconds * Self.factor))
      if let usage {
        entry.counted = usage
        entry.before = StoreUsage()
        entry.countedAt = now
      }
      entries[relyingParty] = entry
    }
  }
}

extension StoreUsage {
  static func + (left: StoreUsage, right: StoreUsage) -> StoreUsage {
    StoreUsage(
      openSessions: left.openSessions + right.openSessions, bytes: left.bytes + right.bytes,
      idempotencyBytes: left.idempotencyBytes + right.idempotencyBytes)
  }

  static func += (left: inout StoreUsage, right: StoreUsage) { left = left + right }
}

extension VerificationService {
  /// Throws `api.quota_exceeded` if the relying party may not create a session or keep a reply.
  func checkQuota(of party: RelyingParty, forSession: Bool) async throws(ServiceError) {
    guard let excess = await excess(of: party, forSession: forSession) else { return }
    throw ServiceError(
      .apiQuotaExceeded, "The relying party has reached its quota of \(excess).", retryAfter: Int(Limits.quotaRetry))
  }

  /// The exhausted part of the quota; nil if none is exhausted. If the last count is too old, counts again first.
  func excess(of party: RelyingParty, forSession: Bool) async -> String? {
    let estimate = estimates.estimate(of: party.id)
    guard let excess = party.quota.excess(of: estimate, forSession: forSession) else { return nil }
    let now = clock()
    guard estimates.isStale(party.id, at: now) else { return excess }
    await count(party.id, at: now)
    return party.quota.excess(of: estimates.estimate(of: party.id), forSession: forSession)
  }

  /// Counts the usage of relying parties whose count is due. Call it every few seconds, outside requests.
  package func measureUsage() async {
    for party in relyingParties.all {
      let now = clock()
      if estimates.isDue(party.id, at: now) { await count(party.id, at: now) }
    }
  }

  private func count(_ party: String, at now: Timestamp) async {
    await estimates.count(party, at: now) { try? await store.usage(of: party, at: now) }
  }
}

extension JSON {
  /// The approximate length of the JSON text in bytes, without escapes.
  var plainBytes: Int {
    switch self {
    case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + 4 + $1.value.plainBytes }
    case .array(let elements): elements.reduce(2) { $0 + 1 + $1.plainBytes }
    case .string(let text): text.utf8.count + 2
    case .integer, .double: 8
    case .largeInteger(let digits): digits.utf8.count
    case .bool, .null: 4
    case .written(let text): text.bytes.count
    }
  }
}

/// Bounds concurrent responses, overall and for each relying party. Further responses are refused before anything is
/// consumed.
final class AdmissionGate: Sendable {
  private let limit: Int
  /// The maximum for one relying party.
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

  /// Lends this response's slot while `body` runs. Afterwards the response takes a slot even if none is free, since its
  /// challenge is consumed.
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

/// Limits concurrent verifications of zero-knowledge proofs. A proof takes a hundred times as long as a plain response.
/// One processor is therefore kept free of proofs, and relying parties take turns.
final class ProofSlots: Sendable {
  private struct State {
    var running = 0
    var waiting = FairQueue<CheckedContinuation<Void, Never>>()
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)) { self.limit = limit }

  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Waits for this response's turn. The turn lasts until `leave`.
  func take(_ party: Flow) async {
    await withCheckedContinuation { continuation in next { $0.waiting.append(continuation, of: party) } }
  }

  /// - Parameter cost: the turn's duration in nanoseconds.
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

/// Lets each relying party read a few lists at a time. The party's further reads wait, without delaying other parties.
final class ListSlots: Sendable {
  private struct Party {
    var running = 0
    /// Waiting reads, oldest first.
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let parties = Locked<[String: Party]>([:])

  /// Runs the read as soon as the relying party has a free slot.
  /// - Throws: `api.overloaded` if too many of the relying party's reads are waiting.
  func take<Value: Sendable>(
    _ relyingParty: String, _ read: () async throws(StoreError) -> Value
  ) async throws(ServiceError) -> Value {
    let isAdmitted = await withCheckedContinuation { continuation in
      let admitted: Bool? = parties.withLock { parties in
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
      if let admitted { continuation.resume(returning: admitted) }
    }
    guard isAdmitted else {
      throw ServiceError(.apiOverloaded, "This relying party reads too many lists at the same time.", retryAfter: 1)
    }
    defer { leave(relyingParty) }
    do { return try await read() } catch { throw ServiceError(error) }
  }

  func waiting(_ relyingParty: String) -> Int { parties.withLock { $0[relyingParty]?.waiting.count ?? 0 } }

  private func leave(_ relyingParty: String) {
    let next: CheckedContinuation<Bool, Never>? = parties.withLock { parties in
      guard var party = parties[relyingParty] else { return nil }
      // The next read takes over this slot.
      let next = party.waiting.isEmpty ? nil : party.waiting.removeFirst()
      if next == nil { party.running -= 1 }
      parties[relyingParty] = party.running > 0 ? party : nil
      return next
    }
    next?.resume(returning: true)
  }
}
