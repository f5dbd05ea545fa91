import Base

/// What this process believes relying parties have in the store: as it was last counted, and what it has added since.
///
/// Nothing is written for it. A count is taken again every so often, and before anything is refused, so that a refusal
/// rests on the store's own word, at most a second old. What other processes add between two counts is not known here:
/// with several of them a quota can be exceeded by what those create in that time.
final class UsageBook: Sendable {
  private struct Entry {
    var counted = StoreUsage()
    /// Since the last count began, and before it for as long as that goes on.
    var added = StoreUsage()
    var before = StoreUsage()
    var isCounting = false
    var hasNews = false
    var countedAt: Timestamp?
    /// From when on a count that nobody waits for is due.
    var due = Timestamp(secondsSince1970: 0)

    var estimate: StoreUsage { counted + before + added }
  }

  /// Seconds between counts, and how many times as long as a count takes.
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

  /// Whether a count that nobody waits for is due: not of who has done nothing here.
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

  /// Counts, where nobody does so now. What is added meanwhile counts beside it, since it may not be in it.
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
