import Glibc

/// A moment of the monotonic clock, to wait until.
package struct Deadline: Sendable {
  package let nanoseconds: Int64

  package init(in duration: Duration) {
    let (seconds, attoseconds) = duration.components
    nanoseconds = Self.now() + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  package var isPast: Bool { Self.now() >= nanoseconds }

  /// For `poll`, rounded up; 0 once it is past.
  package var milliseconds: Int32 { Int32(clamping: max(0, (nanoseconds - Self.now() + 999_999) / 1_000_000)) }

  /// For `pthread_cond_timedwait` on a condition of the monotonic clock.
  package var time: timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  /// Returns when it is past.
  package func sleep() {
    var time = time
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  /// Nanoseconds.
  package static func now() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }
}
