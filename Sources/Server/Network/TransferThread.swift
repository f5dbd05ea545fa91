import Base
import CCurl
import Glibc
import Trust

/// The thread that runs all transfers with libcurl's multi interface. No transfer blocks the thread.
// Unchecked, since the compiler does not see into libcurl. Only the thread uses `transfers` and `multi`. As an
// exception, any thread may call `curl_multi_wakeup` (curl_multi_wakeup(3)) while the inbox is locked and open. The
// thread frees `multi` only after it has seen the inbox closed.
final class TransferThread: @unchecked Sendable {
  private struct Inbox {
    var waiting: [FetchTicket] = []
    var isClosed = false
  }

  private let configuration: WebListFetcher.Configuration
  /// Maximum number of concurrent transfers, of concurrent transfers with one host, and of waiting transfers for one
  /// host.
  private let slots: Int
  private let hostSlots: Int
  private let waitingOfHost: Int
  private let multi: OpaquePointer
  private let inbox = Locked(Inbox())
  private var transfers: [OpaquePointer: Transfer] = [:]

  /// Must be read once in each process, before any other call to libcurl.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init(
    _ configuration: WebListFetcher.Configuration, slots: Int, hostSlots: Int, waitingOfHost: Int
  ) throws(WebListFetcher.StartError) {
    guard Self.isLibraryReady, let multi = curl_multi_init() else {
      throw WebListFetcher.StartError(description: "libcurl does not start")
    }
    self.configuration = configuration
    self.slots = slots
    self.hostSlots = hostSlots
    self.waitingOfHost = waitingOfHost
    self.multi = multi
    guard BackgroundThread.start("mdoc-fetch", { [self] in run() }) else {
      curl_multi_cleanup(multi)
      throw WebListFetcher.StartError(description: "no thread for fetches")
    }
  }

  /// Returns by the ticket's deadline, or at once if the task is cancelled.
  func outcome(of ticket: FetchTicket) async -> FetchTicket.Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        ticket.await(continuation)
        if !submit(ticket) { ticket.fail("too many fetches wait already") }
      }
    } onCancel: {
      ticket.fail("the fetch was cancelled")
      wake()
    }
  }

  /// Queues the ticket. Returns false if too many tickets wait already, or if the inbox is closed.
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

  /// Makes the thread check for tickets that have ended.
  private func wake() { inbox.withLock { if !$0.isClosed { curl_multi_wakeup(multi) } } }

  /// Ends the thread and all its transfers.
  func close() {
    inbox.withLock { inbox in
      guard !inbox.isClosed else { return }
      inbox.isClosed = true
      curl_multi_wakeup(multi)
    }
  }

  // MARK: On the thread

  private func run() {
    // OpenSSL may write to a socket whose other end is closed.
    var broken = sigset_t()
    sigemptyset(&broken)
    sigaddset(&broken, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &broken, nil)
    while !inbox.withLock({ $0.isClosed }) {
      dropEnded()
      let wait = admit()
      var running: Int32 = 0
      var code = curl_multi_perform(multi, &running)
      // After a transfer's end there may be more work: a redirect to follow, or a free slot to fill.
      if code == CURLM_OK, !collect() { code = curl_multi_poll(multi, nil, 0, wait, nil) }
      if code != CURLM_OK {
        endAll(because: "libcurl: multi error \(code.rawValue)")
        // The error may be temporary. Until it passes, the loop must not keep a processor busy.
        usleep(50_000)
      }
    }
    endAll(because: "the fetcher was closed")
    curl_multi_cleanup(multi)
  }

  /// Starts waiting transfers while slots are free. Returns the milliseconds until the next check of the queue.
  private func admit() -> Int32 {
    var slots = slots - transfers.count
    var running = transfers.values.reduce(into: [:]) { $0[$1.ticket.address.host, default: 0] += 1 }
    let (admitted, isOneWaiting): ([FetchTicket], Bool) = inbox.withLock { inbox in
      var admitted: [FetchTicket] = []
      inbox.waiting.removeAll { ticket in
        guard slots > 0, running[ticket.address.host, default: 0] < hostSlots else { return false }
        slots -= 1
        running[ticket.address.host, default: 0] += 1
        admitted.append(ticket)
        return true
      }
      return (admitted, !inbox.waiting.isEmpty)
    }
    for ticket in admitted where !ticket.isEnded {
      if let transfer = Transfer(ticket, configuration) { begin(transfer) } else { ticket.fail("libcurl is exhausted") }
    }
    return isOneWaiting ? 100 : 60_000
  }

  private func begin(_ transfer: Transfer) {
    guard transfer.prepare(), curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
      return transfer.ticket.fail("libcurl lacks a required option")
    }
    transfers[transfer.easy] = transfer
  }

  /// Concludes the transfers that have ended. Returns true if there were any.
  private func collect() -> Bool {
    var left: Int32 = 0
    var isAny = false
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      isAny = true
      guard let transfer = transfers.removeValue(forKey: easy) else { continue }
      // This call frees the message, so read the message first.
      curl_multi_remove_handle(multi, easy)
      switch transfer.conclude(code) {
      case .redirected: begin(transfer)
      case .ended(let outcome): transfer.ticket.end(with: outcome)
      }
    }
    return isAny
  }

  /// Drops transfers whose tickets have ended, and ends tickets that were queued too long.
  private func dropEnded() {
    for (easy, transfer) in transfers where transfer.ticket.isEnded {
      curl_multi_remove_handle(multi, easy)
      transfers[easy] = nil
    }
    let waiting = inbox.withLock { $0.waiting }
    for ticket in waiting where ticket.remainingMilliseconds == 0 { ticket.end(with: .failure(.timedOut)) }
    let ended = Set(waiting.filter(\.isEnded).map(ObjectIdentifier.init))
    if !ended.isEmpty { inbox.withLock { $0.waiting.removeAll { ended.contains(ObjectIdentifier($0)) } } }
  }

  private func endAll(because reason: String) {
    for (easy, transfer) in transfers {
      curl_multi_remove_handle(multi, easy)
      transfer.ticket.fail(reason)
    }
    transfers = [:]
    let waiting = inbox.withLock { inbox in
      defer { inbox.waiting = [] }
      return inbox.waiting
    }
    for ticket in waiting { ticket.fail(reason) }
  }
}
