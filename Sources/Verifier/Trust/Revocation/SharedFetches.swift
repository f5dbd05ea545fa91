import Base

/// Fetches each address once at a time: whoever asks for one that is under way waits for the same answer.
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

  /// The same, as a fault that says why a document's status is not known.
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
