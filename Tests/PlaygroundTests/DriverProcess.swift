import Base
import Glibc
import TestMode

@testable import App

/// A program in its own process, which ends with this object: by default chromedriver, whose browsers end with it.
final class DriverProcess: Sendable {
  static let program = "/usr/bin/chromedriver"
  static var isHere: Bool { access(program, X_OK) == 0 && access("/usr/bin/chromium", X_OK) == 0 }
  /// If this is set, a missing browser is a failure instead of a reason to skip; 0 always skips these tests.
  private static var setting: String? { getenv("MDOC_BROWSER").map { String(cString: $0) } }
  static var isRequired: Bool { setting != nil && !isLeftOut }
  static var isLeftOut: Bool { setting == "0" }

  let port: UInt16
  private let id: pid_t
  private let output: Int32

  /// Starts it, and waits until it prints its port.
  /// - Parameter announcement: the text that it prints before the port.
  init(
    _ words: [String] = [program, "--port=0"], environment: [String: String] = [:],
    announcing announcement: String = "successfully on port "
  ) throws(BrowserFault) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BrowserFault("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var arguments = words.map { strdup($0) } + [nil]
    var settings =
      environment.map { strdup("\($0.key)=\($0.value)") } + [
        strdup("PATH=" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")), nil,
      ]
    var id: pid_t = 0
    let code =
      environment.isEmpty
      ? posix_spawn(&id, words[0], &actions, nil, &arguments, environ)
      : posix_spawn(&id, words[0], &actions, nil, &arguments, &settings)
    for text in arguments + settings { free(text) }
    posix_spawn_file_actions_destroy(&actions)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      throw BrowserFault("\(words[0]) does not start: \(code)")
    }
    guard let port = Self.announcedPort(from: ends[0], after: announcement) else {
      Self.end(id)
      close(ends[0])
      throw BrowserFault("\(words[0]) did not say its port")
    }
    self.port = port
    self.id = id
    output = ends[0]
  }

  deinit {
    Self.end(id)
    close(output)
  }

  /// Reads up to "… started successfully on port 12345." or similar text, for at most half a minute.
  private static func announcedPort(from descriptor: Int32, after marker: String) -> UInt16? {
    var text = ""
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 30_000) == 1 else { return nil }
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return nil }
      text += String(decoding: chunk[..<count], as: UTF8.self)
      if let start = text.range(of: marker) {
        let digits = text[start...].prefix(while: \.isNumber)
        if !text[start...].dropFirst(digits.count).isEmpty { return UInt16(digits) }
      }
    }
  }

  /// Asks it to end, and kills it after five seconds.
  private static func end(_ id: pid_t) {
    kill(id, SIGTERM)
    for _ in 0..<100 {
      if waitpid(id, nil, WNOHANG) == id { return }
      usleep(50_000)
    }
    kill(id, SIGKILL)
    while waitpid(id, nil, 0) < 0, errno == EINTR {}
  }
}

extension String {
  /// The end of the text's first occurrence.
  fileprivate func range(of text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }.map { index($0, offsetBy: text.count) }
  }
}

/// One call of chromedriver: JSON in both directions over HTTP/1.1.
struct WebDriverCall: Sendable {
  let port: UInt16
  let method: String
  let path: String
  let body: JSON?

  /// The reply's `value`.
  func run() -> Result<JSON, BrowserFault> {
    do throws(ClientError) {
      let connection = try ClientConnection(port: port, headers: ["Connection: close"])
      try connection.send(method, path, body?.serialized() ?? [])
      let reply = try connection.receive()
      guard let json = try? JSON(parsing: reply.body), let value = json["value"] else {
        return .failure(BrowserFault("chromedriver's reply is no JSON: \(path)"))
      }
      guard reply.status == 200 else {
        return .failure(BrowserFault("\(path): \(value["error"]?.string ?? "") \(value["message"]?.string ?? "")"))
      }
      return .success(value)
    } catch {
      return .failure(BrowserFault("\(path): \(error.reason)"))
    }
  }
}
