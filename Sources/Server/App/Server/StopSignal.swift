import Base
import Glibc

/// Waits for SIGTERM or SIGINT. The handler posts a semaphore, which wakes a waiting thread. `sigwait` requires that
/// all threads block the signals, even threads that Swift started earlier.
package enum StopSignal {
  // The pointer is written once. Any thread may call sem_post and sem_wait.
  nonisolated(unsafe) private static let semaphore = makeSemaphore()

  /// Keeps the signals from ending the process.
  package static func install() {
    _ = semaphore
    for number in [SIGTERM, SIGINT] { signal(number) { _ in sem_post(StopSignal.semaphore) } }
  }

  /// Returns after the first signal. A second signal ends the process at once. `first` runs on the waiting thread.
  package static func wait(_ first: @escaping @Sendable () -> Void = {}) async {
    await BackgroundThread.run {
      while sem_wait(semaphore) != 0 {}
      for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
      first()
    }
  }
}

/// SIGHUP: operators send it to reload the configuration and trust anchors.
package enum ReloadSignal {
  // The pointer is written once. Any thread may call sem_post and sem_wait.
  nonisolated(unsafe) private static let semaphore = makeSemaphore()

  /// Keeps the signal from ending the process.
  package static func install() {
    _ = semaphore
    signal(SIGHUP) { _ in sem_post(ReloadSignal.semaphore) }
  }

  /// One element for each signal; signals in quick succession may share an element. Only one reader in a process may
  /// use the sequence.
  static let arrivals = AsyncStream<Void>(bufferingPolicy: .bufferingNewest(1)) { continuation in
    _ = BackgroundThread.start {
      while true {
        while sem_wait(semaphore) != 0 {}
        if case .terminated = continuation.yield() { return }
      }
    }
  }
}

/// Makes the semaphore that a signal's handler posts. Call this before installing the handler. The semaphore is never
/// freed.
private func makeSemaphore() -> UnsafeMutablePointer<sem_t> {
  let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  sem_init(semaphore, 0, 0)
  return semaphore
}

/// Ends the process if a stop takes too long. A thread that computes or waits in a library may never end.
enum StopWatchdog {
  /// The exit code of an internal error, the same for every verb (`mdoc help`).
  static let status: Int32 = 70
  /// Time for the log's thread to write the last line.
  private static let lastLine: UInt32 = 500_000  // microseconds

  /// Runs on a separate thread, since any other thread may hang. The thread ends with the process.
  static func start(after seconds: Int64, log: Log) {
    _ = BackgroundThread.start("mdoc-stop") {
      var rest = UInt32(clamping: seconds)
      // `sleep` returns early when a signal is handled.
      while rest > 0 { rest = sleep(rest) }
      log.write(
        .error, "server.stop_overdue", at: .systemNow(),
        [
          "seconds": .integer(seconds),
          "message": "requests in progress did not end in time; no acknowledged change was lost",
        ])
      usleep(lastLine)
      // Do not call `exit`: it waits for locks that the hanging thread may hold.
      _exit(status)
    }
  }
}
