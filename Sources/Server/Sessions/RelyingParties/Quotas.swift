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

/// What this process believes relying parties have in the store: as it was last counted, and what it has added since.
///
/// Nothing is written for it. A count is taken again every so often, and before anything is refused, so that a refusal
/// rests on the store's own word, at most a second old. What other processes add between two counts is not known here:
/// with several of them a quota can be exceeded by what those create in that time.
final class UsageBook: Sendable {
  private struct Entry {
    var counted = StoreUsage()
    /// `added` has what was added since the last count began. `before` has what was added before that, until a count
    /// succeeds.
    var added = StoreUsage()
    var before = StoreUsage()
    var isCounting = false
    var hasNews = false
    var countedAt: Timestamp?
    /// When the next count in the background is due.
    var due = Timestamp(secondsSince1970: 0)

    var estimate: StoreUsage { counted + before + added }
  }

  /// The pause between counts in the background: at least `interval` seconds, and at least `share` times as long as the
  /// last count took.
  private static let interval: Int64 = 10
  private static let share = 50.0

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

  /// Whether a count in the background is due. It never is for a relying party that has added nothing here since the
  /// last one.
  func isDue(_ relyingParty: String, at now: Timestamp) -> Bool {
    entries.withLock { entries in
      entries[relyingParty].map { $0.hasNews && !$0.isCounting && now >= $0.due } ?? false
    }
  }

  /// Whether the last count is too old to refuse by, and a new one may begin.
  func isStale(_ relyingParty: String, at now: Timestamp) -> Bool {
    entries.withLock { entries in
      guard let entry = entries[relyingParty] else { return true }
      return !entry.isCounting && entry.countedAt.map { now > $0 } ?? true
    }
  }

  /// Counts, unless a count is under way. What is added meanwhile is kept beside the count, which may not include it.
  func count(
    _ relyingParty: String, at now: Timestamp, _ read: () async throws(StoreError) -> StoreUsage
  ) async throws(StoreError) {
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
    let counted: Result<StoreUsage, StoreError>
    do throws(StoreError) { counted = .success(try await read()) } catch { counted = .failure(error) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    entries.withLock { entries in
      var entry = entries[relyingParty] ?? Entry()
      entry.isCounting = false
      entry.due = now + max(Self.interval, Int64(seconds * Self.share))
      if case .success(let usage) = counted {
        entry.counted = usage
        entry.before = StoreUsage()
        entry.countedAt = now
      }
      entries[relyingParty] = entry
    }
    _ = try counted.get()
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

extension ServiceContext {
  /// Throws `api.quota_exceeded` where the relying party may make no new session, or have no new reply kept.
  func checkQuota(of party: RelyingParty, forSession: Bool) async throws(ServiceError) {
    guard let excess = await excess(of: party, forSession: forSession) else { return }
    throw ServiceError(
      .apiQuotaExceeded, "The relying party has its quota of \(excess).", retryAfter: Int(Limits.quotaRetry))
  }

  /// Which part of the quota is used up, in a word for people; nil if none. A count that is too old is taken again
  /// first.
  func excess(of party: RelyingParty, forSession: Bool) async -> String? {
    guard let excess = party.quota.excess(of: usage.estimate(of: party.id), forSession: forSession) else { return nil }
    let now = clock()
    guard usage.isStale(party.id, at: now) else { return excess }
    await count(party.id, at: now)
    return party.quota.excess(of: usage.estimate(of: party.id), forSession: forSession)
  }

  /// Counts what the relying party has in the store. If the count fails, the last estimate stays.
  fileprivate func count(_ party: String, at now: Timestamp) async {
    try? await usage.count(party, at: now) { () async throws(StoreError) in
      try await store.usage(of: party, at: now)
    }
  }
}

/// Counts what relying parties have in the store, now and then, beside their requests.
struct MeasureUsage {
  let context: ServiceContext

  func run() async {
    for party in context.relyingParties.all {
      let now = context.clock()
      if context.usage.isDue(party.id, at: now) { await context.count(party.id, at: now) }
    }
  }
}

extension JSON {
  /// The bytes of its text, without what escapes add.
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
