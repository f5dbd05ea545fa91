import CMalloc
import Glibc

/// The cost of judging one answer.
package struct Measurement: Sendable, Hashable {
  /// Bytes of the answer.
  package let inputBytes: Int
  /// Seconds of processor time of the whole process.
  package let processorSeconds: Double
  /// Bytes by which resident memory rose at its peak, without the answer itself; nil if the system does not tell.
  package let peakMemory: Int?

  /// The memory as `2.4 MiB`; nil if it is not known.
  package var memoryText: String? {
    peakMemory.map { bytes in
      let tenths = (bytes * 10) >> 20
      return "\(tenths / 10).\(tenths % 10) MiB"
    }
  }

  /// `0.012 s`.
  package var timeText: String { RunReport.text(seconds: processorSeconds) + " s" }
}

/// Measures one piece of work at a time, such as a judgement, in a process that does nothing else meanwhile.
package struct Meter {
  private let start: Double
  private let resident: Int?

  /// Makes glibc return free memory to the system at once. By default it keeps memory, more of it after a large
  /// release, and what an earlier case left would hide what this case takes.
  private static let freesAtOnce: Bool = {
    mallopt(M_MMAP_THRESHOLD, 64 << 10) == 1 && mallopt(M_TRIM_THRESHOLD, 64 << 10) == 1
  }()

  /// Call this before the uncounted first judgement, so that it leaves no free memory behind.
  package static func prepare() { _ = freesAtOnce }

  package init() {
    malloc_trim(0)
    resident = Self.freesAtOnce && Self.resetPeak() ? Self.status("VmRSS:") : nil
    start = Self.processorSeconds()
  }

  /// Bytes by which resident memory has risen, without what is free again; nil if the system does not tell.
  package func residentRise() -> Int? {
    malloc_trim(0)
    return resident.flatMap { before in Self.status("VmRSS:").map { max(0, $0 - before) } }
  }

  package func read(for inputBytes: Int) -> Measurement {
    let seconds = Self.processorSeconds() - start
    let peak = resident.flatMap { before in Self.status("VmHWM:").map { max(0, $0 - before) } }
    return Measurement(inputBytes: inputBytes, processorSeconds: seconds, peakMemory: peak)
  }

  /// Sets the kernel's high-water mark of this process back to what is resident now (proc(5), clear_refs).
  private static func resetPeak() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The number in a line of /proc/self/status, in bytes; nil if there is no such line.
  private static func status(_ name: String) -> Int? {
    guard let file = fopen("/proc/self/status", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix(name) { return Int(text.filter(\.isNumber)).map { $0 << 10 } }
    }
    return nil
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
