import Base
import Trust

/// Fetches lists from the web with libcurl, under each call's rules. Concurrent and queued fetches are bounded. The
/// environment's proxies, and files with passwords or cookies, are ignored.
package final class WebListFetcher: ListFetcher {
  package struct Configuration: Sendable {
    /// A PEM file of TLS certificate authorities; nil uses the system's authorities.
    package var authorities: String?
    package var observer: FetchLog?
    /// Fixed addresses for names, in the form `name:port:address`, for tests.
    package var pinnedNames: [String] = []

    package init(authorities: String? = nil, observer: FetchLog? = nil) {
      self.authorities = authorities
      self.observer = observer
    }
  }

  /// libcurl does not start, or the system cannot start a thread.
  package struct StartError: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  private let thread: TransferThread
  private let observer: FetchLog?

  package init(_ configuration: Configuration = Configuration()) throws(StartError) {
    observer = configuration.observer
    thread = try TransferThread(
      configuration, slots: Limits.fetches, hostSlots: Limits.hostFetches, waitingOfHost: Limits.waitingHostFetches)
  }

  deinit { thread.close() }

  package func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
    observer?.observe(.asked)
    do throws(FetchError) {
      let ticket = FetchTicket(
        try ListAddress(address, allowing: rules), rules: rules, deadline: ContinuousClock.now + rules.timeLimit)
      let list = try await thread.outcome(of: ticket).get().list
      observer?.observe(.fetched(bytes: list.bytes.count))
      return list
    } catch {
      observer?.observe(.failed(error))
      throw error
    }
  }
}

/// Sends messages to configured addresses on a separate thread, with the same address checks as `WebListFetcher`.
package final class WebPoster: Sendable {
  private let thread: TransferThread

  package init(
    _ configuration: WebListFetcher.Configuration = .init(), slots: Int = Limits.firstDeliveries + Limits.deliveries
  ) throws(WebListFetcher.StartError) {
    thread = try TransferThread(configuration, slots: slots, hostSlots: slots, waitingOfHost: Limits.waitingFetches)
  }

  deinit { thread.close() }

  /// Returns within the time limit of the rules, or when its task is cancelled. Treats no status as an error, and
  /// follows no redirect.
  package func post(
    _ message: WebMessage, to address: String, allowing rules: FetchRules
  ) async throws(FetchError) -> WebReply {
    try await exchange(message, with: address, allowing: rules).reply
  }

  /// Posts like `post`, and also returns at most `maximumBytes` of the reply's content.
  package func exchange(
    _ message: WebMessage, with address: String, allowing rules: FetchRules
  ) async throws(FetchError) -> (reply: WebReply, content: FetchedList) {
    let ticket = FetchTicket(
      try ListAddress(address, allowing: rules), .message(message), rules: rules,
      deadline: ContinuousClock.now + rules.timeLimit)
    let (reply, list) = try await thread.outcome(of: ticket).get()
    return (reply, list)
  }
}

/// The limits of the server's requests to other hosts.
extension Limits {
  /// Seconds to connect, and seconds of silence after which a transfer ends. The time limit of the whole fetch also
  /// applies.
  package static let fetchConnectSeconds: Int64 = 5
  package static let fetchSilenceSeconds: Int64 = 5
  /// Maximum bytes of one reply's header.
  package static let fetchHeaderBytes = 64 << 10
  /// Maximum number of running fetches, and of waiting fetches. Further fetches are refused.
  package static let fetches = 16
  package static let waitingFetches = 256
  /// Maximum number of running and of waiting fetches from one host: a hanging publisher must not take all slots.
  package static let hostFetches = 4
  package static let waitingHostFetches = 32

  /// Maximum number of concurrent delivery attempts: to one endpoint, first attempts, all other attempts.
  package static let endpointDeliveries = 16
  package static let firstDeliveries = 1_024
  package static let deliveries = 128
}
