import Base
import FoundationEssentials
import Glibc

@testable import App

/// The built program serving a live configuration in a process of its own, which gets signals as from an operator.
final class LiveProcess {
  struct Fault: Error { let reason: String }

  /// Beside the tests; nil where it was not built.
  static let program: String? = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return nil }
    let program = path[..<slash] + "/mdoc"
    return access(String(program), X_OK) == 0 ? String(program) : nil
  }()

  private(set) var id: pid_t = 0
  private let logPath: String

  /// An address sanitizer looks for leaks in the tests' own process: without an environment it knows no symbols, and
  /// takes globals for leaks.
  private static let sanitizerOptions = ["ASAN_OPTIONS=detect_leaks=0"]

  /// Its log goes to a file in the folder, its environment is this one and a sanitizer's, and no more.
  init(_ folder: LiveFolder, environment: [String]) throws {
    guard let program = Self.program else { throw Fault(reason: "the program was not built") }
    logPath = folder.path + "/log"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, logPath, O_WRONLY | O_CREAT, 0o600)
    let words = [program, "serve", "--config", folder.configurationFile]
    var arguments = words.map { strdup($0) } + [nil]
    var variables = (environment + Self.sanitizerOptions).map { strdup($0) } + [nil]
    defer { for copy in arguments + variables { free(copy) } }
    let code = posix_spawn(&id, program, &actions, nil, &arguments, &variables)
    guard code == 0 else { throw Fault(reason: "spawn: \(code)") }
  }

  deinit { end(with: SIGKILL) }

  func send(_ signal: Int32) { kill(id, signal) }

  /// Waits for its end, after the signal, and returns its status; negative is a signal's number.
  @discardableResult
  func end(with signal: Int32) -> Int32 {
    guard id > 0 else { return 0 }
    var status: Int32 = 0
    if signal != 0 { kill(id, signal) }
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    id = 0
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  /// The first line of the log for this event, when it is there.
  func event(_ name: String) async throws -> JSON {
    for _ in 0..<1_500 {
      let text = FileManager.default.contents(atPath: logPath).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let lines = text.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
      if let line = lines.first(where: { $0["event"]?.string == name }) { return line }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Fault(reason: "no \(name) in the log")
  }
}
