import Base
import Mdoc

struct Kept<List: Sendable>: Sendable {
  let list: List
  let bytes: Int
  let issuedAt: Timestamp
  /// The time until which the list is used without another fetch.
  let freshUntil: Timestamp
  /// The first instant at which the list is no longer valid.
  let expires: Timestamp
}

/// Stores verified lists by their source. Each list is loaded by only one task at a time.
///
/// The numbers of lists and bytes are limited. Lists that expire first are dropped first. A failure is remembered for a
/// few seconds, so that an unreachable publisher is not asked again for every document. If the clock is set back,
/// neither lists nor failures are kept longer.
final class ListCache<Source: Hashable & Sendable, List: Sendable>: Sendable {
  private struct State {
    var kept: [Source: Kept<List>] = [:]
    var bytes = 0
    var failed: [Source: (error: RevocationListError, until: Timestamp)] = [:]
    var loading: [Source: Task<Result<Kept<List>, RevocationListError>, Never>] = [:]
  }

  private let state = Locked(State())
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
    state.withLock { Self.fresh(source, in: $0, at: now)?.list }
  }

  private static func fresh(_ source: Source, in state: State, at now: Timestamp) -> Kept<List>? {
    guard let kept = state.kept[source], now < kept.freshUntil, now < kept.expires,
      isPlausible(kept.freshUntil, within: Limits.longestListLifetime, of: now)
    else { return nil }
    return kept
  }

  /// The list, either fresh from memory or loaded now. If loading fails, or too many callers wait, a stale list is used
  /// until it expires.
  ///
  /// - Parameter publisher: the host by which waiting callers are counted.
  func list(
    _ source: Source, of publisher: String, at now: Timestamp,
    load: @escaping @Sendable () async throws(RevocationListError) -> Kept<List>
  ) async throws(RevocationListError) -> List {
    if let list = fresh(source, at: now) { return list }
    if let error = recentError(source, at: now) { return try fallBack(source, error, at: now) }
    let task = state.withLock { state in
      if let running = state.loading[source] { return running }
      // A load may have ended since the check above.
      if let kept = Self.fresh(source, in: state, at: now) { return Task { .success(kept) } }
      let task = Task<Result<Kept<List>, RevocationListError>, Never>(executorPreference: executor) {
        let start = self.clock()
        let result: Result<Kept<List>, RevocationListError>
        do throws(RevocationListError) { result = .success(try await load()) } catch { result = .failure(error) }
        // A failure's time starts at the end of the load.
        return self.finish(source, result, at: now + (self.clock() - start).components.seconds)
      }
      state.loading[source] = task
      return task
    }
    switch await room.wait(for: publisher, { await task.value }) {
    case nil:
      return try fallBack(
        source, RevocationListError(.unavailable, "too many requests already wait for the publisher's lists"), at: now)
    case .success(let kept)? where now < kept.expires: return kept.list
    case .success?: throw RevocationListError(.unavailable, "the list expired while it was fetched")
    case .failure(let error)?: return try fallBack(source, error, at: now)
    }
  }

  private func finish(
    _ source: Source, _ result: Result<Kept<List>, RevocationListError>, at now: Timestamp
  ) -> Result<Kept<List>, RevocationListError> {
    state.withLock { state in
      state.loading[source] = nil
      switch result {
      case .success(let kept):
        // An older list must not replace a newer list, even if the newer list has expired.
        if let newer = state.kept[source], newer.issuedAt > kept.issuedAt {
          let error = RevocationListError(.unavailable, "the served list is older than a list that was already used")
          state.failed[source] = (error, now + Limits.failedFetchLifetime)
          return .failure(error)
        }
        state.failed[source] = nil
        state.bytes += kept.bytes - (state.kept[source]?.bytes ?? 0)
        state.kept[source] = kept
        makeRoom(&state, at: now)
      case .failure(let error):
        if state.failed.count >= maximumLists { state.failed.removeAll() }
        state.failed[source] = (error, now + Limits.failedFetchLifetime)
      }
      return result
    }
  }

  private func recentError(_ source: Source, at now: Timestamp) -> RevocationListError? {
    state.withLock { state in
      guard let failed = state.failed[source], now < failed.until,
        Self.isPlausible(failed.until, within: Limits.failedFetchLifetime, of: now)
      else { return nil }
      return failed.error
    }
  }

  /// True if an entry that is kept for at most `lifetime` seconds can end at that time. A later end means that the
  /// entry was stored while the clock was ahead. The skew allows for callers that read the clock a moment ago.
  private static func isPlausible(_ end: Timestamp, within lifetime: Int64, of now: Timestamp) -> Bool {
    end <= now + lifetime + Limits.clockSkew
  }

  private func fallBack(_ source: Source, _ error: RevocationListError, at now: Timestamp) throws(RevocationListError)
    -> List
  {
    guard let kept = state.withLock({ $0.kept[source] }), now < kept.expires else { throw error }
    return kept.list
  }

  private func makeRoom(_ state: inout State, at now: Timestamp) {
    guard state.kept.count > maximumLists || state.bytes > maximumBytes else { return }
    for (source, kept) in state.kept.sorted(by: { $0.value.expires < $1.value.expires }) {
      guard now >= kept.expires || state.kept.count > maximumLists || state.bytes > maximumBytes else { break }
      state.kept[source] = nil
      state.bytes -= kept.bytes
    }
  }
}

/// Shares fetches: a second caller for an address waits for the running fetch.
final class SharedFetches: Sendable {
  private struct Request: Hashable {
    let address: String
    let rules: FetchRules
  }

  private let fetcher: any ListFetcher
  private let running = Locked<[Request: Task<Result<FetchedList, FetchError>, Never>]>([:])
  private let executor: (any TaskExecutor)?

  init(_ fetcher: any ListFetcher, executor: (any TaskExecutor)?) {
    self.fetcher = fetcher
    self.executor = executor
  }

  func list(_ address: String, allowing rules: FetchRules) async throws(RevocationListError) -> FetchedList {
    let request = Request(address: address, rules: rules)
    let task = running.withLock { running in
      if let task = running[request] { return task }
      let task = Task<Result<FetchedList, FetchError>, Never>(executorPreference: executor) {
        let result: Result<FetchedList, FetchError>
        do throws(FetchError) {
          result = .success(try await self.fetcher.fetch(address, allowing: rules))
        } catch {
          result = .failure(error)
        }
        self.running.withLock { $0[request] = nil }
        return result
      }
      running[request] = task
      return task
    }
    switch await task.value {
    case .success(let list): return list
    case .failure(.notAllowed(let reason)): throw RevocationListError(.sourceNotAllowed, reason)
    case .failure(.tooLarge): throw RevocationListError(.listTooLarge, "more than \(rules.maximumBytes) bytes")
    case .failure(.unavailable(let reason)): throw RevocationListError(.unavailable, reason)
    }
  }
}

/// Counts the callers that wait for publishers, and admits a limited number: for each publisher, and in total.
///
/// A waiting caller occupies a connection and keeps a response in memory. Without a limit, a publisher that does not
/// reply would accumulate them. A caller that is not admitted gets a result immediately, from the lists in memory.
final class WaitingRoom: Sendable {
  private struct State {
    var all = 0
    var waiting: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let limitForOne: Int
  private let limit: Int

  init(limitForOne: Int = Limits.publisherWaiters, limit: Int = Limits.waiters) {
    self.limitForOne = limitForOne
    self.limit = limit
  }

  var count: Int { state.withLock { $0.all } }

  /// Runs the body, which waits for this publisher. Returns nil immediately if the caller is not admitted.
  func wait<R: Sendable>(for publisher: String, _ body: () async -> R) async -> R? {
    guard enter(publisher) else { return nil }
    defer { leave(publisher) }
    return await body()
  }

  private func enter(_ publisher: String) -> Bool {
    state.withLock { state in
      let waiting = state.waiting[publisher] ?? 0
      guard waiting < limitForOne, state.all < limit else { return false }
      state.waiting[publisher] = waiting + 1
      state.all += 1
      return true
    }
  }

  private func leave(_ publisher: String) {
    state.withLock { state in
      let waiting = (state.waiting[publisher] ?? 1) - 1
      // The last caller removes the publisher's name. Strangers choose the names, so their number is unbounded.
      state.waiting[publisher] = waiting > 0 ? waiting : nil
      state.all -= 1
    }
  }
}
