import Base
import COpenSSL
import Glibc

/// A publisher on this machine that replies as instructed, even in ways that no HTTP library would. One thread and one
/// reply for each connection.
final class LoopbackServer: Sendable {
  /// The bytes to send, in order; then the connection is closed.
  enum Part: Sendable {
    case text(String)
    case bytes([UInt8])
    case pause(milliseconds: UInt32)
    /// Until the other end closes, or the server stops.
    case silence
  }

  let port: UInt16
  private let descriptor: Int32
  private let heads = Locked([String]())
  private let isStopped = Locked(false)
  private let answer: @Sendable (_ target: String) -> [Part]
  private let identity: ServerIdentity?

  init(_ identity: ServerIdentity? = nil, answer: @escaping @Sendable (_ target: String) -> [Part]) throws {
    _ = Self.isProcessReady
    self.identity = identity
    self.answer = answer
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = descriptor
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(socket, generic, length) == 0 && listen(socket, 64) == 0 && getsockname(socket, generic, &length) == 0
      }
    }
    guard descriptor >= 0, isListening else { throw Fault() }
    port = UInt16(bigEndian: address.sin_port)
    Self.detach { [self] in accept() }
  }

  struct Fault: Error {}

  /// Every request's line, headers and body, as received.
  var requests: [String] { heads.withLock { $0 } }

  func url(_ target: String = "/list", scheme: String = "http", host: String = "127.0.0.1") -> String {
    "\(scheme)://\(host):\(port)\(target)"
  }

  func stop() { isStopped.withLock { $0 = true } }

  // MARK: Threads

  /// For all tests of the process: proxies that must be ignored and accept no connection.
  private static let isProcessReady: Bool = {
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
      setenv(name, "http://127.0.0.1:9", 1)
    }
    // OpenSSL writes to sockets that the client has closed.
    signal(SIGPIPE, SIG_IGN)
    return true
  }()

  private func accept() {
    while waitForInput(descriptor) {
      let client = Glibc.accept(descriptor, nil, nil)
      if client >= 0 { Self.detach { [self] in serve(client) } }
    }
    close(descriptor)
  }

  private func serve(_ descriptor: Int32) {
    defer { close(descriptor) }
    guard let connection = Connection(descriptor, identity) else { return }
    defer { connection.end() }
    guard let head = connection.readRequest(while: { waitForInput(descriptor) }) else { return }
    heads.withLock { $0.append(head) }
    let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    for part in answer(target) {
      switch part {
      case .text(let text): if !connection.write(Array(text.utf8)) { return }
      case .bytes(let bytes): if !connection.write(bytes) { return }
      case .pause(let milliseconds): usleep(milliseconds * 1_000)
      // The request has already been read whole: the next event is the end.
      case .silence: _ = waitForInput(descriptor)
      }
    }
  }

  private func waitForInput(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !isStopped.withLock({ $0 }) {
      if poll(&entry, 1, 20) > 0 { return true }
    }
    return false
  }

  private static func detach(_ run: @escaping @Sendable () -> Void) {
    precondition(BackgroundThread.start("mdoc-test", run), "no thread for a test's server")
  }
}

/// One connection, with or without TLS.
private struct Connection {
  let descriptor: Int32
  let tls: OpaquePointer?

  init?(_ descriptor: Int32, _ identity: ServerIdentity?) {
    self.descriptor = descriptor
    guard let identity else {
      tls = nil
      return
    }
    guard let tls = identity.accept(descriptor) else { return nil }
    self.tls = tls
  }

  func readRequest(while isWaiting: () -> Bool) -> String? {
    var request = ""
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !Self.isWhole(request) {
      guard tls != nil || isWaiting() else { return nil }
      let count = tls.map { Int(SSL_read($0, &buffer, 4_096)) } ?? read(descriptor, &buffer, 4_096)
      guard count > 0 else { return nil }
      request += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    return request
  }

  /// Whether the head is there, and as many bytes after it as it says.
  private static func isWhole(_ request: String) -> Bool {
    guard let end = request.firstRange(of: "\r\n\r\n") else { return false }
    let lines = request[..<end.lowerBound].split(separator: "\r\n")
    let field = lines.first { $0.lowercased().hasPrefix("content-length:") }
    let length = field.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    return request[end.upperBound...].utf8.count >= length
  }

  func end() {
    guard let tls else { return }
    SSL_shutdown(tls)
    SSL_free(tls)
  }

  func write(_ bytes: [UInt8]) -> Bool {
    if let tls { return SSL_write(tls, bytes, Int32(bytes.count)) == bytes.count }
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        buffer.baseAddress.map { send(descriptor, $0 + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) } ?? -1
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
