import Base
import Glibc

/// SIGHUP, by which operators ask a server to read its configuration and trust anchors anew.
package enum ReloadSignal {
  // Written once before the handler is installed and never freed; sem_post is safe in a signal handler.
  nonisolated(unsafe) private static let semaphore = {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
    return semaphore
  }()

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
