import Base
import Glibc

/// What another process has written and how often it has waited, as Linux counts it (proc(5)).
struct ProcessCounts: Sendable {
  /// Calls that wrote, to files and sockets, and their bytes.
  var writes = 0
  var bytesWritten = 0
  /// Bytes that it made dirty for a disk.
  var bytesToDisk = 0
  /// How often its threads gave their processor up to wait.
  var switches = 0

  init() {}

  init(of process: pid_t) {
    let io = Self.lines("/proc/\(process)/io")
    writes = io["syscw"] ?? 0
    bytesWritten = io["wchar"] ?? 0
    bytesToDisk = io["write_bytes"] ?? 0
    switches = ProcessorTime.threads(of: process).reduce(0) { sum, thread in
      sum + (Self.lines("/proc/\(process)/task/\(thread)/status")["voluntary_ctxt_switches"] ?? 0)
    }
  }

  static func - (left: ProcessCounts, right: ProcessCounts) -> ProcessCounts {
    var rest = left
    rest.writes -= right.writes
    rest.bytesWritten -= right.bytesWritten
    rest.bytesToDisk -= right.bytesToDisk
    rest.switches -= right.switches
    return rest
  }

  /// The numbers of a file of `name: number` lines.
  private static func lines(_ path: String) -> [String: Int] {
    guard let file = fopen(path, "r") else { return [:] }
    defer { fclose(file) }
    var numbers: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let parts = text.split(separator: ":", maxSplits: 1)
      if parts.count == 2, let number = Int(parts[1].filter { !$0.isWhitespace }) { numbers[String(parts[0])] = number }
    }
    return numbers
  }
}
