import CMalloc
import FoundationEssentials
import Glibc

/// The cost of judging one response.
package struct Measurement: Sendable, Hashable {
  package let inputBytes: Int
  /// Seconds of processor time of the whole process.
  package let processorSeconds: Double
  /// The peak increase of resident memory in bytes, without the response; nil if unknown.
  package let peakMemory: Int?

  /// `2.4 MiB`; nil if unknown.
  package var memoryText: String? {
    peakMemory.map { bytes in
      let tenths = (bytes * 10) >> 20
      return "\(tenths / 10).\(tenths % 10) MiB"
    }
  }

  /// `0.012 s`.
  package var timeText: String { RunReport.text(seconds: processorSeconds) + " s" }
}

/// Measures one piece of work, such as a judgement, while the process does nothing else.
package struct Meter {
  private let start: Double
  private let resident: Int?

  /// Makes glibc return free memory at once. Memory retained from an earlier case hides this case's use.
  private static let freesAtOnce: Bool = {
    mallopt(M_MMAP_THRESHOLD, 64 << 10) == 1 && mallopt(M_TRIM_THRESHOLD, 64 << 10) == 1
  }()

  /// Call this before the uncounted first judgement, so that the judgement leaves no free memory behind.
  package static func prepare() { _ = freesAtOnce }

  package init() {
    malloc_trim(0)
    resident = Self.freesAtOnce && Self.resetPeak() ? Self.status("VmRSS:") : nil
    start = CPUClock.process() / 1e6
  }

  /// The increase of resident memory in bytes, without freed memory; nil if unknown.
  package func residentRise() -> Int? {
    malloc_trim(0)
    return resident.flatMap { before in Self.status("VmRSS:").map { max(0, $0 - before) } }
  }

  package func read(for inputBytes: Int) -> Measurement {
    let seconds = CPUClock.process() / 1e6 - start
    let peak = resident.flatMap { before in Self.status("VmHWM:").map { max(0, $0 - before) } }
    return Measurement(inputBytes: inputBytes, processorSeconds: seconds, peakMemory: peak)
  }

  /// Resets the kernel's high-water mark of this process (proc(5), clear_refs).
  private static func resetPeak() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The bytes in a line of /proc/self/status; nil if there is no such line.
  private static func status(_ name: String) -> Int? {
    let text = FileManager.default.contents(atPath: "/proc/self/status").map { String(decoding: $0, as: UTF8.self) }
    let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }
}

/// Processor time. Other programs on the machine disturb it less than the wall clock.
package enum CPUClock {
  /// The processor time of this thread, in microseconds.
  package static func thread() -> Double { microseconds(CLOCK_THREAD_CPUTIME_ID) }

  /// The processor time of all threads of this process, in microseconds.
  package static func process() -> Double { microseconds(CLOCK_PROCESS_CPUTIME_ID) }

  package static func wall() -> Double { microseconds(CLOCK_MONOTONIC) }

  private static func microseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

/// Repeated measurements of one figure.
package struct Samples {
  private var values: [Double] = []

  package init() {}

  package mutating func add(_ value: Double) { values.append(value) }

  package var median: Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}

/// Formats a non-negative number with a fixed number of decimals.
package func decimal(_ value: Double, _ places: Int) -> String {
  var scale = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = Int((value * Double(scale)).rounded())
  guard places > 0 else { return "\(scaled)" }
  let fraction = "\(scaled % scale)"
  return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
}
