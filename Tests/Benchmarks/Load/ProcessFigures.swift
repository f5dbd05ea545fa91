import Base
import Glibc

/// Processor time of other processes, as Linux counts it (proc(5)).
enum ProcessorTime {
  /// Seconds of a process, added up by thread names.
  static func byThread(of process: pid_t) -> [String: Double] {
    threads(of: process).reduce(into: [:]) { times, thread in
      guard let (name, fields) = stat("/proc/\(process)/task/\(thread)/stat") else { return }
      times[name, default: 0] += seconds(fields[11...12])
    }
  }

  /// The numbers of a process's threads.
  static func threads(of process: pid_t) -> [String] { entries("/proc/\(process)/task") }

  /// Seconds of all processes with this name, and of their children that have ended.
  static func ofProcesses(named name: String) -> Double {
    entries("/proc").filter { $0.allSatisfy(\.isNumber) }.reduce(0) { sum, process in
      guard let (found, fields) = stat("/proc/\(process)/stat"), found == name else { return sum }
      return sum + seconds(fields[11...14])
    }
  }

  private static func seconds(_ fields: ArraySlice<Substring>) -> Double {
    fields.compactMap { Double($0) }.reduce(0, +) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
  }

  /// The name, which may contain any character, and the fields from the third on; nil if the file cannot be read.
  private static func stat(_ path: String) -> (name: String, fields: [Substring])? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1_024)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 14 ? (String(text[text.index(after: start)..<end]), fields) : nil
  }

  private static func entries(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.first != "." { names.append(name) }
    }
    return names
  }
}

/// How much another process has written and how often it has waited, as Linux counts it (proc(5)).
struct ProcessCounts: Sendable {
  /// Write calls, to files and sockets, and the bytes that they wrote.
  var writes = 0
  var bytesWritten = 0
  /// Bytes that it sent towards a disk (`write_bytes`).
  var bytesToDisk = 0
  /// How often its threads gave up their processor to wait.
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

  /// Reads a file of `name: number` lines; empty if it cannot be read.
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
