import Base
import Glibc

/// Waits for SIGTERM or SIGINT.
///
/// The handler posts a semaphore, which is about all that a handler may do, and a thread of its own waits for it.
/// Waiting with `sigwait` instead would need the signals blocked in every thread, those that Swift made before us
/// included.
package enum StopSignal {
  // Written once before the handlers are installed and never freed; sem_post is safe in a signal handler.
  nonisolated(unsafe) private static let semaphore = {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
    return semaphore
  }()

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
