import Base
import Trust

/// Posts messages to addresses that somebody configured, under the guard that lists are fetched under.
///
/// It has a thread of its own for all of them: a receiver that hangs takes one of its places, and nobody's list waits
/// for it.
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

  /// Ends within the rules' time limit, and at once where its task is cancelled. Whatever status is answered is no
  /// error; a redirect is not followed.
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
