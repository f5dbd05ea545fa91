import Base
import Trust

/// Fetches lists from the web, with libcurl, under the rules of each call.
///
/// One thread of its own does all transfers, a bounded number at a time; more wait in a bounded queue. A caller
/// suspends, so that neither a verification thread nor Swift's cooperative pool ever stands still for a publisher.
/// Proxies that the environment names, and files with passwords or cookies, are ignored.
package final class WebListFetcher: ListFetcher {
  /// The settings of all fetches.
  package struct Configuration: Sendable {
    /// A PEM file of the authorities whose TLS servers are believed; nil uses the system's.
    package var authorities: String?
    package var observer: (any FetchObserver)?
    /// Fixed addresses of names, as `name:port:address`, for tests.
    package var pinnedNames: [String] = []

    package init(authorities: String? = nil, observer: (any FetchObserver)? = nil) {
      self.authorities = authorities
      self.observer = observer
    }
  }

  /// libcurl does not start, or the system has no thread to give.
  package struct StartError: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  private let thread: TransferThread
  private let observer: (any FetchObserver)?

  package init(_ configuration: Configuration = Configuration()) throws(StartError) {
    observer = configuration.observer
    thread = try TransferThread(
      configuration, hostPlaces: Limits.hostFetches, waitingOfHost: Limits.waitingHostFetches)
  }

  deinit { thread.close() }

  package func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
    observer?.observe(.asked)
    let answer = await answer(to: address, allowing: rules)
    switch answer {
    case .success(let list): observer?.observe(.fetched(bytes: list.bytes.count))
    case .failure(let error): observer?.observe(.failed(error))
    }
    return try answer.get()
  }

  private func answer(
    to address: String, allowing rules: FetchRules
  ) async -> Result<FetchedList, FetchError> {
    let deadline = ContinuousClock.now + rules.timeLimit
    let ticket: FetchTicket
    do {
      ticket = FetchTicket(try ListAddress(address, allowing: rules), rules: rules, deadline: deadline)
    } catch {
      return .failure(error)
    }
    return await thread.answer(to: ticket).map(\.list)
  }
}

/// Posts messages to configured addresses, under the same guard as fetches of lists.
///
/// It has a thread of its own: a receiver that hangs takes one of its places, and no list waits for it.
package final class WebPoster: Sendable {
  package struct Answer: Sendable, Hashable {
    package let status: Int
    package let retryAfter: RetryAfter?

    package init(status: Int, retryAfter: RetryAfter? = nil) {
      self.status = status
      self.retryAfter = retryAfter
    }
  }

  private let thread: TransferThread

  package init(
    _ configuration: WebListFetcher.Configuration = .init(), places: Int = Limits.firstDeliveries + Limits.deliveries
  ) throws(WebListFetcher.StartError) {
    thread = try TransferThread(configuration, places: places)
  }

  deinit { thread.close() }

  /// Ends within the rules' time limit, or at once if its task is cancelled. No status is an error, and a redirect is
  /// not followed.
  package func post(
    _ message: WebMessage, to address: String, allowing rules: FetchRules
  ) async throws(FetchError) -> Answer {
    let ticket = FetchTicket(
      try ListAddress(address, allowing: rules), .message(message), rules: rules,
      deadline: ContinuousClock.now + rules.timeLimit)
    let answer = try await thread.answer(to: ticket).get()
    return Answer(status: answer.status, retryAfter: answer.retryAfter)
  }
}

/// The limits of the server's requests to other hosts.
extension Limits {
  /// Seconds that a connection may take to be made, and seconds without a byte after which a transfer ends. Both lie
  /// within the time limit of the whole fetch.
  package static let fetchConnectSeconds: Int64 = 5
  package static let fetchSilenceSeconds: Int64 = 5
  /// Bytes of the headers of one answer.
  package static let fetchHeaderBytes = 64 << 10
  /// Fetches that run at one time, and fetches that wait for one of these to end. Further ones are refused.
  package static let fetches = 16
  package static let waitingFetches = 256
  /// The same for fetches from one host: a publisher that keeps everybody waiting must not take all places.
  package static let hostFetches = 4
  package static let waitingHostFetches = 32

  /// The most attempts under way at one time: those to one endpoint that answers well; the first ones, one for each
  /// endpoint; and all further ones, which relying parties share.
  package static let endpointDeliveries = 16
  package static let firstDeliveries = 1_024
  package static let deliveries = 128
}
