import Base

/// Fetches each address once at a time: a second caller waits for the answer to the fetch under way.
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

  func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
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
    return try await task.value.get()
  }

  /// The same fetch. Its error is a fault that says why a document's status is not known.
  func list(_ address: String, allowing rules: FetchRules) async throws(ListFault) -> FetchedList {
    do throws(FetchError) {
      return try await fetch(address, allowing: rules)
    } catch {
      switch error {
      case .notAllowed(let reason): throw ListFault(.sourceNotAllowed, reason)
      case .tooLarge: throw ListFault(.listTooLarge, "more than \(rules.maximumBytes) bytes")
      case .unavailable(let reason): throw ListFault(.unavailable, reason)
      }
    }
  }
}

/// Counts the callers that wait for publishers, and admits a limited number for each publisher and in all.
///
/// A caller that waits holds a connection and an answer in memory, and a publisher that hangs must not collect them
/// without end. A caller that finds no place is answered at once from what is known.
final class WaitingRoom: Sendable {
  private struct State {
    var all = 0
    var waiting: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let placesForOne: Int
  private let places: Int

  init(placesForOne: Int = Limits.publisherWaiters, places: Int = Limits.waiters) {
    self.placesForOne = placesForOne
    self.places = places
  }

  /// The number of callers that wait now.
  var count: Int { state.withLock { $0.all } }

  /// Runs the body, which waits for this publisher. If there is no place, returns nil at once.
  func wait<R: Sendable>(for publisher: String, _ body: () async -> R) async -> R? {
    guard enter(publisher) else { return nil }
    defer { leave(publisher) }
    return await body()
  }

  private func enter(_ publisher: String) -> Bool {
    state.withLock { state in
      let waiting = state.waiting[publisher] ?? 0
      guard waiting < placesForOne, state.all < places else { return false }
      state.waiting[publisher] = waiting + 1
      state.all += 1
      return true
    }
  }

  private func leave(_ publisher: String) {
    state.withLock { state in
      let waiting = (state.waiting[publisher] ?? 1) - 1
      // The last caller removes the publisher's name: publishers choose the names, so their number has no bound.
      state.waiting[publisher] = waiting > 0 ? waiting : nil
      state.all -= 1
    }
  }
}
