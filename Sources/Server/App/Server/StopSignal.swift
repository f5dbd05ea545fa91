import Base
import Glibc

/// Waits for SIGTERM or SIGINT.
///
/// The handler posts a semaphore, which is about all that a handler may do, and a thread of its own waits for it.
/// Waiting with `sigwait` instead would need the signals blocked in every thread, those that Swift made before us
/// included.
package enum StopSignal {
  // Written once; sem_post and sem_wait may be called from any thread.
  nonisolated(unsafe) private static let semaphore = makeSemaphore()

  /// From now on the signals no longer end the process; `wait` returns when one has come.
  package static func install() {
    _ = semaphore
    for number in [SIGTERM, SIGINT] { signal(number) { _ in sem_post(StopSignal.semaphore) } }
  }

  /// Returns after the first signal; the second one ends the process at once, whatever still drains.
  /// - Parameter first: what is done at once, even where no thread is left on which this could return.
  package static func wait(_ first: @escaping @Sendable () -> Void = {}) async {
    await BackgroundThread.run {
      while sem_wait(semaphore) != 0 {}
      for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
      first()
    }
  }
}

/// SIGHUP, by which operators ask a server to read its configuration and trust anchors anew.
package enum ReloadSignal {
  // Written once; sem_post and sem_wait may be called from any thread.
  nonisolated(unsafe) private static let semaphore = makeSemaphore()

  /// From now on the signal no longer ends the process.
  package static func install() {
    _ = semaphore
    signal(SIGHUP) { _ in sem_post(ReloadSignal.semaphore) }
  }

  /// One element for each signal that came, those of one moment as one. For one reader a process.
  static let arrivals = AsyncStream<Void>(bufferingPolicy: .bufferingNewest(1)) { continuation in
    _ = BackgroundThread.start {
      while true {
        while sem_wait(semaphore) != 0 {}
        if case .terminated = continuation.yield() { return }
      }
    }
  }
}

/// What a signal's handler posts: made once, before the handler is installed, and never freed; sem_post is safe in a
/// handler.
private func makeSemaphore() -> UnsafeMutablePointer<sem_t> {
  let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  sem_init(semaphore, 0, 0)
  return semaphore
}

/// Ends the process when a stop takes longer than it may: a thread that computes or waits in a library cannot be told to
/// return, and a graceful stop would wait for it for good.
enum StopWatchdog {
  /// An internal fault, as of every verb (`mdoc help`).
  static let status: Int32 = 70
  /// How long the log's thread has for the last line.
  private static let lastLine: UInt32 = 500_000  // microseconds

  /// On a thread of its own, since all others may be what hangs. The process's end ends it.
  static func start(after seconds: Int64, log: Log) {
    _ = BackgroundThread.start("mdoc-stop") {
      var rest = UInt32(clamping: seconds)
      // A signal that is handled cuts it short.
      while rest > 0 { rest = sleep(rest) }
      log.write(
        .error, "server.stop_overdue", at: .systemNow(),
        [
          "seconds": .integer(seconds),
          "message": "what was under way did not end; nothing was lost that had been acknowledged",
        ])
      usleep(lastLine)
      // Not `exit`, which waits for locks that the hanging thread may hold.
      _exit(status)
    }
  }
}
