import Base
import Glibc

/// `mdoc serve --test-mode` as a process of its own, so that its memory can be told from ours.
struct ServerProcess {
  struct Failed: Error { let reason: String }

  let port: UInt16
  let apiKey: String
  private let process: pid_t

  /// Starts this very program, and waits for what it prints first.
  /// - Parameter processors: those that it may run on, as `taskset` takes them; nil for all.
  /// - Parameter store: as `--store` takes it; nil for a temporary file.
  init(processors: String? = nil, store: String? = nil) throws(Failed) {
    var pipeEnds: [Int32] = [0, 0]
    guard pipe(&pipeEnds) == 0 else { throw Failed(reason: "no pipe") }
    defer { close(pipeEnds[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, pipeEnds[0])
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    guard let program = Self.program else { throw Failed(reason: "this program's file is unknown") }
    let serving =
      ["serve", "--test-mode", "--listen", "127.0.0.1:0", "--json"] + (store.map { ["--store", $0] } ?? [])
    let arguments = (processors.map { ["taskset", "-c", $0] } ?? []) + [program] + serving
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
    close(pipeEnds[1])
    guard code == 0 else { throw Failed(reason: "the server did not start") }
    self.process = process
    guard let announcement = try? JSON(parsing: ServerProcess.readAll(pipeEnds[0])),
      let key = announcement["api_key"]?.string,
      let port = announcement["base_url"]?.string?.split(separator: ":").last.flatMap({ UInt16($0) })
    else {
      kill(process, SIGTERM)
      throw Failed(reason: "the server did not say where it listens")
    }
    apiKey = key
    self.port = port
  }

  /// Where this program is; the links of `/proc` would mean another's to another.
  private static var program: String? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }

  /// Processor seconds that it has used, by the names of its threads.
  func processorSeconds() -> [String: Double] { ProcessorTime.byThread(of: process) }

  func counts() -> ProcessCounts { ProcessCounts(of: process) }

  /// Resident memory in KiB.
  func residentMemory() -> Int? { status("VmRSS:") }

  /// The most that it had at any time.
  func peakMemory() -> Int? { status("VmHWM:") }

  private func status(_ name: String) -> Int? {
    guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) }
    }
    return nil
  }

  func stop() {
    kill(process, SIGTERM)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// The announcement ends with the closing brace at the beginning of a line; the server keeps the pipe open.
  private static func readAll(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      if (try? JSON(parsing: bytes)) != nil { return bytes }
    }
  }
}
