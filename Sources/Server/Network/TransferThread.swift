import Base
import CCurl
import Glibc
import Trust

/// The thread that does all transfers, by libcurl's multi interface: none of them blocks it, the others' names and
/// handshakes included.
// Unchecked, since the compiler does not see into libcurl: `multi` is used by the thread alone, but for
// `curl_multi_wakeup`, which any thread may call (curl_multi_wakeup(3)), and which is called only with the inbox locked
// and not closed; the thread closes the inbox before it frees `multi`. `transfers` is touched by the thread alone.
final class TransferThread: @unchecked Sendable {
  private struct Inbox {
    var waiting: [FetchTicket] = []
    var isClosed = false
  }

  private let configuration: WebListFetcher.Configuration
  /// Transfers at one time, and of these to one host; and those to one host that may wait.
  private let places: Int
  private let hostPlaces: Int
  private let waitingOfHost: Int
  private let multi: OpaquePointer
  private let inbox = Locked(Inbox())
  private var transfers: [OpaquePointer: Transfer] = [:]

  /// Once in a process, and before anything else of libcurl.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init(
    _ configuration: WebListFetcher.Configuration, places: Int = Limits.fetches, hostPlaces: Int? = nil,
    waitingOfHost: Int = Limits.waitingFetches
  ) throws(WebListFetcher.StartError) {
    guard Self.isLibraryReady, let multi = curl_multi_init() else {
      throw WebListFetcher.StartError(description: "libcurl does not start")
    }
    self.configuration = configuration
    self.places = places
    self.hostPlaces = hostPlaces ?? places
    self.waitingOfHost = waitingOfHost
    self.multi = multi
    guard BackgroundThread.start("mdoc-fetch", { [self] in run() }) else {
      curl_multi_cleanup(multi)
      throw WebListFetcher.StartError(description: "no thread to fetch with")
    }
  }

  /// Ends within the ticket's deadline, and at once where the task is cancelled.
  func answer(to ticket: FetchTicket) async -> FetchTicket.Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        ticket.await(continuation)
        if !submit(ticket) { ticket.end(with: .failure(.unavailable("too many fetches wait already"))) }
      }
    } onCancel: {
      ticket.end(with: .failure(.unavailable("the fetch was cancelled")))
      wake()
    }
  }

  /// False where too many wait already, or where no one will come for them.
  private func submit(_ ticket: FetchTicket) -> Bool {
    inbox.withLock { inbox in
      guard !inbox.isClosed, inbox.waiting.count < Limits.waitingFetches,
        inbox.waiting.count(where: { $0.address.host == ticket.address.host }) < waitingOfHost
      else { return false }
      inbox.waiting.append(ticket)
      curl_multi_wakeup(multi)
      return true
    }
  }

  /// Has the thread look for tickets that ended.
  private func wake() {
    inbox.withLock { inbox in
      if !inbox.isClosed { curl_multi_wakeup(multi) }
    }
  }

  /// Ends the thread and what it does.
  func close() {
    inbox.withLock { inbox in
      guard !inbox.isClosed else { return }
      inbox.isClosed = true
      curl_multi_wakeup(multi)
    }
  }

  // MARK: On the thread

  private func run() {
    // libcurl leaves signals alone here, and OpenSSL writes to sockets whose other end may be gone.
    var broken = sigset_t()
    sigemptyset(&broken)
    sigaddset(&broken, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &broken, nil)
    while !inbox.withLock({ $0.isClosed }) {
      dropEnded()
      let wait = admit()
      var running: Int32 = 0
      var code = curl_multi_perform(multi, &running)
      // A transfer that ended may go on with a redirect, or give its place to another: then there is more to do.
      if code == CURLM_OK, !collect() { code = curl_multi_poll(multi, nil, 0, wait, nil) }
      if code != CURLM_OK {
        endAll(because: "libcurl: multi error \(code.rawValue)")
        // What is wrong with it may pass, and until then must not keep a core busy.
        usleep(50_000)
      }
    }
    endAll(because: "the fetcher was closed")
    curl_multi_cleanup(multi)
  }

  /// Lets in as many as may run, in their order but for those whose host has all its places taken; the milliseconds until
  /// the queue must be seen to again at the latest.
  private func admit() -> Int32 {
    var places = places - transfers.count
    var running = transfers.values.reduce(into: [:]) { $0[$1.ticket.address.host, default: 0] += 1 }
    let (admitted, isOneWaiting): ([FetchTicket], Bool) = inbox.withLock { inbox in
      var admitted: [FetchTicket] = []
      inbox.waiting.removeAll { ticket in
        guard places > 0, running[ticket.address.host, default: 0] < hostPlaces else { return false }
        places -= 1
        running[ticket.address.host, default: 0] += 1
        admitted.append(ticket)
        return true
      }
      return (admitted, !inbox.waiting.isEmpty)
    }
    for ticket in admitted where !ticket.isEnded {
      guard let transfer = Transfer(ticket, configuration) else {
        ticket.end(with: .failure(.unavailable("libcurl has no handle to give")))
        continue
      }
      begin(transfer)
    }
    return isOneWaiting ? 100 : 60_000
  }

  private func begin(_ transfer: Transfer) {
    guard transfer.prepare(), curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
      return transfer.ticket.end(with: .failure(.unavailable("libcurl lacks an option that is needed")))
    }
    transfers[transfer.easy] = transfer
  }

  /// Takes in what ended; whether anything did.
  private func collect() -> Bool {
    var left: Int32 = 0
    var isAny = false
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      isAny = true
      guard let transfer = transfers.removeValue(forKey: easy) else { continue }
      // The message is gone with its handle.
      curl_multi_remove_handle(multi, easy)
      switch transfer.conclude(code) {
      case .redirected: begin(transfer)
      case .ended(let answer): transfer.ticket.end(with: answer)
      }
    }
    return isAny
  }

  /// Forgets those that nobody waits for any more, and those that waited too long for their turn.
  private func dropEnded() {
    for (easy, transfer) in transfers where transfer.ticket.isEnded {
      curl_multi_remove_handle(multi, easy)
      transfers[easy] = nil
    }
    let waiting = inbox.withLock { $0.waiting }
    for ticket in waiting where ticket.remainingMilliseconds == 0 {
      ticket.end(with: .failure(.unavailable(CurlFault.timedOut)))
    }
    let ended = Set(waiting.filter(\.isEnded).map(ObjectIdentifier.init))
    if !ended.isEmpty { inbox.withLock { $0.waiting.removeAll { ended.contains(ObjectIdentifier($0)) } } }
  }

  private func endAll(because reason: String) {
    for (easy, transfer) in transfers {
      curl_multi_remove_handle(multi, easy)
      transfer.ticket.end(with: .failure(.unavailable(reason)))
    }
    transfers = [:]
    let waiting = inbox.withLock { inbox in
      defer { inbox.waiting = [] }
      return inbox.waiting
    }
    for ticket in waiting { ticket.end(with: .failure(.unavailable(reason))) }
  }
}
