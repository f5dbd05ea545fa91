import Base
import Glibc

/// Waits for SIGTERM or SIGINT.
///
/// The handler posts a semaphore, one of the few calls that a handler may make, and a thread of its own waits for it.
/// `sigwait` would need the signals blocked in every thread, and Swift has made threads before us.
package enum StopSignal {
  // Written once; sem_post and sem_wait may be called from any thread.
  nonisolated(unsafe) private static let semaphore = makeSemaphore()

  /// From now on the signals no longer end the process; `wait` returns when one has come.
  package static func install() {
    _ = semaphore
    for number in [SIGTERM, SIGINT] { signal(number) { _ in sem_post(StopSignal.semaphore) } }
  }

  /// Returns after the first signal. The second one ends the process at once, even if requests still drain.
  ///
  /// - Parameter first: runs at once on the thread that waits, even if no thread is left on which this call could
  ///   return.
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

  /// One element for each signal; signals that come close together make one. Only one reader in a process may use it.
  static let arrivals = AsyncStream<Void>(bufferingPolicy: .bufferingNewest(1)) { continuation in
    _ = BackgroundThread.start {
      while true {
        while sem_wait(semaphore) != 0 {}
        if case .terminated = continuation.yield() { return }
      }
    }
  }
}

/// Makes the semaphore that a signal's handler posts. It is made before the handler is installed, and never freed. A
/// handler may call sem_post.
private func makeSemaphore() -> UnsafeMutablePointer<sem_t> {
  let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  sem_init(semaphore, 0, 0)
  return semaphore
}

/// Ends the process if a stop takes longer than it may. A thread that computes or waits in a library cannot be told to
/// return, and a graceful stop would wait for it for ever.
enum StopWatchdog {
  /// The exit code of an internal fault, the same for every verb (`mdoc help`).
  static let status: Int32 = 70
  /// Time for the log's thread to write the last line.
  private static let lastLine: UInt32 = 500_000  // microseconds

  /// Runs on a thread of its own, since any other thread may hang. The thread ends with the process.
  static func start(after seconds: Int64, log: Log) {
    _ = BackgroundThread.start("mdoc-stop") {
      var rest = UInt32(clamping: seconds)
      // `sleep` returns early when a signal was handled.
      while rest > 0 { rest = sleep(rest) }
      log.write(
        .error, "server.stop_overdue", at: .systemNow(),
        [
          "seconds": .integer(seconds),
          "message": "what was under way did not end; nothing was lost that had been acknowledged",
        ])
      usleep(lastLine)
      // `exit` would wait for locks that the hanging thread may hold.
      _exit(status)
    }
  }
}
