import Glibc

/// Processor time of other processes, as Linux counts it (proc(5)).
enum ProcessorTime {
  /// Seconds of a process, by the names of its threads.
  static func byThread(of process: pid_t) -> [String: Double] {
    threads(of: process).reduce(into: [:]) { times, thread in
      guard let (name, fields) = stat("/proc/\(process)/task/\(thread)/stat") else { return }
      times[name, default: 0] += seconds(fields[11...12])
    }
  }

  /// Their numbers.
  static func threads(of process: pid_t) -> [String] { entries("/proc/\(process)/task") }

  /// Seconds of all processes of a name, with those of their children that have ended.
  static func ofProcesses(named name: String) -> Double {
    entries("/proc").filter { $0.allSatisfy(\.isNumber) }.reduce(0) { sum, process in
      guard let (found, fields) = stat("/proc/\(process)/stat"), found == name else { return sum }
      return sum + seconds(fields[11...14])
    }
  }

  private static func seconds(_ fields: ArraySlice<Substring>) -> Double {
    fields.compactMap { Double($0) }.reduce(0, +) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
  }

  /// The name, which may have anything in it, and the fields from the third on.
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
