import Base
import Mdoc

/// A verified list, with the facts that decide how long it is kept.
struct Kept<List: Sendable>: Sendable {
  let list: List
  let bytes: Int
  let issuedAt: Timestamp
  /// The end of the time in which it is used without being fetched again.
  let freshUntil: Timestamp
  /// The first instant at which it no longer counts at all.
  let expires: Timestamp
}

/// Verified lists by their source, each loaded by one task at a time.
///
/// It holds a bounded number of lists and of bytes: lists that expire first are dropped first. A failure is remembered
/// for a few seconds, so that a publisher that is down is not asked again for every document. Neither lasts longer if
/// the clock is set back.
final class ListCache<Source: Hashable & Sendable, List: Sendable>: Sendable {
  private struct State {
    var kept: [Source: Kept<List>] = [:]
    var bytes = 0
    var failed: [Source: (fault: ListFault, until: Timestamp)] = [:]
    var loading: [Source: Task<Result<Kept<List>, ListFault>, Never>] = [:]
  }

  private let state = Locked(State())
  /// The executor on which lists are loaded; nil means Swift's default.
  private let executor: (any TaskExecutor)?
  private let room: WaitingRoom
  private let maximumLists: Int
  private let maximumBytes: Int
  private let clock: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - room: counts the callers that wait for a list that is being loaded.
  ///   - clock: measures how long a load takes.
  init(
    maximumLists: Int = Limits.keptLists, maximumBytes: Int = Limits.keptListBytes,
    executor: (any TaskExecutor)? = nil, room: WaitingRoom = WaitingRoom(),
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.executor = executor
    self.room = room
    self.maximumLists = maximumLists
    self.maximumBytes = maximumBytes
    self.clock = clock
  }

  /// The list, if it is fresh and need not be fetched; nil otherwise.
  func fresh(_ source: Source, at now: Timestamp) -> List? {
    state.withLock { state in
      guard let kept = state.kept[source], now < kept.freshUntil, now < kept.expires,
        Self.isPlausible(kept.freshUntil, within: Limits.longestListLifetime, of: now)
      else { return nil }
      return kept.list
    }
  }

  /// The list, fresh or loaded now. If none can be loaded, or too many callers wait for it, a stale list serves that
  /// has not expired.
  /// - Parameter publisher: the host of the publisher, by which waiting callers are counted.
  func list(
    _ source: Source, of publisher: String, at now: Timestamp,
    load: @escaping @Sendable () async throws(ListFault) -> Kept<List>
  ) async throws(ListFault) -> List {
    if let list = fresh(source, at: now) { return list }
    if let fault = recentFault(source, at: now) { return try fallBack(source, fault, at: now) }
    let task = state.withLock { state in
      if let running = state.loading[source] { return running }
      let task = Task<Result<Kept<List>, ListFault>, Never>(executorPreference: executor) {
        let start = self.clock()
        let result: Result<Kept<List>, ListFault>
        do throws(ListFault) { result = .success(try await load()) } catch { result = .failure(error) }
        // The failure of a publisher that lets everybody wait is counted from the end of the waiting.
        return self.finish(source, result, at: now + (self.clock() - start).components.seconds)
      }
      state.loading[source] = task
      return task
    }
    switch await room.wait(for: publisher, { await task.value }) {
    case nil:
      return try fallBack(source, ListFault(.unavailable, "too many wait for the publisher's lists already"), at: now)
    case .success(let kept)? where now < kept.expires: return kept.list
    case .success?: throw ListFault(.unavailable, "the list expired while it was fetched")
    case .failure(let fault)?: return try fallBack(source, fault, at: now)
    }
  }

  private func finish(
    _ source: Source, _ result: Result<Kept<List>, ListFault>, at now: Timestamp
  ) -> Result<Kept<List>, ListFault> {
    state.withLock { state in
      state.loading[source] = nil
      switch result {
      case .success(let kept):
        // An older list that is served again must not undo what a newer one said. That holds even if the newer list has
        // expired: its publisher has made a statement since.
        if let newer = state.kept[source], newer.issuedAt > kept.issuedAt {
          let fault = ListFault(.unavailable, "the list that is served is older than one that was seen")
          state.failed[source] = (fault, now + Limits.failedFetchLifetime)
          return .failure(fault)
        }
        state.failed[source] = nil
        state.bytes += kept.bytes - (state.kept[source]?.bytes ?? 0)
        state.kept[source] = kept
        makeRoom(&state, at: now)
      case .failure(let fault):
        if state.failed.count >= maximumLists { state.failed.removeAll() }
        state.failed[source] = (fault, now + Limits.failedFetchLifetime)
      }
      return result
    }
  }

  private func recentFault(_ source: Source, at now: Timestamp) -> ListFault? {
    state.withLock { state in
      guard let failed = state.failed[source], now < failed.until,
        Self.isPlausible(failed.until, within: Limits.failedFetchLifetime, of: now)
      else { return nil }
      return failed.fault
    }
  }

  /// Whether something that is remembered for at most `lifetime` seconds can end at that time. If it ends later, it was
  /// remembered while the clock was ahead. Without this check, a publisher that failed then would count as down for as
  /// long as the clock was ahead. The skew is for callers that took the time a moment ago.
  private static func isPlausible(_ end: Timestamp, within lifetime: Int64, of now: Timestamp) -> Bool {
    end <= now + lifetime + Limits.clockSkew
  }

  private func fallBack(_ source: Source, _ fault: ListFault, at now: Timestamp) throws(ListFault) -> List {
    guard let kept = state.withLock({ $0.kept[source] }), now < kept.expires else { throw fault }
    return kept.list
  }

  /// Drops the lists that have expired, and then those that expire first, until the rest fits.
  private func makeRoom(_ state: inout State, at now: Timestamp) {
    guard state.kept.count > maximumLists || state.bytes > maximumBytes else { return }
    for (source, kept) in state.kept.sorted(by: { $0.value.expires < $1.value.expires }) {
      guard now >= kept.expires || state.kept.count > maximumLists || state.bytes > maximumBytes else { break }
      state.kept[source] = nil
      state.bytes -= kept.bytes
    }
  }
}
