import Glibc

/// Processor time, which other programs on the machine disturb less than the wall clock.
enum CPUClock {
  /// Microseconds that this thread has run.
  static func thread() -> Double { microseconds(CLOCK_THREAD_CPUTIME_ID) }

  /// Microseconds that all threads of this process have run.
  static func process() -> Double { microseconds(CLOCK_PROCESS_CPUTIME_ID) }

  static func wall() -> Double { microseconds(CLOCK_MONOTONIC) }

  private static func microseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

/// Minimum and median of repeated measurements: the minimum is the most reliable figure on a shared machine.
struct Samples {
  private var values: [Double] = []

  mutating func add(_ value: Double) { values.append(value) }

  var minimum: Double { values.min() ?? 0 }

  var median: Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}
