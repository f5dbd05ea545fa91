import Base
import Glibc
import TestMode

@testable import MdocTool

/// The built program, serving in test mode in its own process, which can be killed.
final class ServerProcess {
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

  let client: LoopbackClient
  private var id: pid_t = 0

  /// Keeps keys and the port of the lists from one start to the next. It differs for each run of the tests, so that two
  /// runs on one machine do not use the same port.
  private static let seed = (0..<16).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()

  /// Starts a server on a free port.
  init(store: String) throws {
    guard let program = Self.program else { throw Fault(reason: "the program was not built") }
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Fault(reason: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let arguments = [
      program, "serve", "--test-mode", "--json", "--listen", "127.0.0.1:0", "--store", store, "--seed", Self.seed,
    ]
    var copies = arguments.map { strdup($0) } + [nil]
    let code = posix_spawn(&id, program, &actions, nil, &copies, environ)
    for copy in copies { free(copy) }
    posix_spawn_file_actions_destroy(&actions)
    close(ends[1])
    guard code == 0 else { throw Fault(reason: "spawn: \(code)") }
    guard let announced = Self.announcement(from: ends[0]), let url = announced["base_url"]?.string,
      let port = url.split(separator: ":").last.flatMap({ UInt16($0) }), let key = announced["api_key"]?.string
    else {
      Self.end(id, with: SIGKILL)
      throw Fault(reason: "the server did not start")
    }
    client = LoopbackClient(port: port, token: key)
  }

  deinit { kill() }

  /// Runs the built program to its end, printing nothing.
  static func exitStatus(of arguments: [String], program: String? = ServerProcess.program) throws -> Int32 {
    guard let program else { throw Fault(reason: "the program was not built") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for stream in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
    }
    var copies = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var id: pid_t = 0
    let code = posix_spawn(&id, program, &actions, nil, &copies, environ)
    guard code == 0 else { throw Fault(reason: "spawn: \(code)") }
    return end(id, with: 0)
  }

  /// Like a power cut for the process: none of its code runs any more.
  func kill() { end(with: SIGKILL) }

  /// Ends it and returns its exit status; negative is a signal's number.
  @discardableResult
  func end(with signal: Int32) -> Int32 {
    guard id > 0 else { return 0 }
    defer { id = 0 }
    return Self.end(id, with: signal)
  }

  @discardableResult
  private static func end(_ id: pid_t, with signal: Int32) -> Int32 {
    var status: Int32 = 0
    Glibc.kill(id, signal)
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  /// Reads until what was read is JSON: the server keeps its end open.
  private static func announcement(from descriptor: Int32) -> JSON? {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return nil }
      text += chunk[..<count]
      if let json = try? JSON(parsing: text) { return json }
    }
  }
}
