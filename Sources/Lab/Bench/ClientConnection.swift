import App
import Base
import Glibc

/// A small HTTP/1.1 client for JSON over the loopback interface: one connection a call.
struct LoopbackClient: Sendable {
  struct Reply: Sendable {
    let status: Int
    let body: JSON

    /// The code of a problem, or of the session's refusal.
    var code: String? { body["code"]?.string ?? body["last_error"]?["code"]?.string }
  }

  typealias Fault = LoopbackSocket.Fault

  let port: UInt16
  let token: String

  func post(_ path: String, _ body: JSON) async throws(Fault) -> Reply { try await call("POST", path, body) }

  func get(_ path: String) async throws(Fault) -> Reply { try await call("GET", path, nil) }

  /// The call blocks, so it has a thread of its own: the server's work shares the others with us.
  private func call(_ method: String, _ path: String, _ body: JSON?) async throws(Fault) -> Reply {
    let result = Locked<Result<Reply, Fault>>(.failure(Fault(reason: "no thread for the call")))
    await BackgroundThread.run {
      do throws(Fault) {
        let reply = try exchange(request(method, path, body))
        result.withLock { $0 = .success(reply) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    return try result.withLock { $0 }.get()
  }

  private func request(_ method: String, _ path: String, _ body: JSON?) -> [UInt8] {
    let content = body?.serialized() ?? []
    let head = [
      "\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Authorization: Bearer \(token)",
      "Content-Type: application/json", "Content-Length: \(content.count)", "Connection: close",
    ]
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + content
  }

  /// Reads until the server closes, which it was asked to.
  private func exchange(_ request: [UInt8]) throws(Fault) -> Reply {
    let socket = try LoopbackSocket(port: port)
    try socket.send(request)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while try socket.receive(into: &bytes, by: &chunk) {}
    return try reply(in: bytes)
  }

  /// `HTTP/1.1 200 …`, headers, and a JSON body to the end.
  private func reply(in bytes: [UInt8]) throws(Fault) -> Reply {
    let end = Array("\r\n\r\n".utf8)
    guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }),
      let line = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n").first,
      let status = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
      let body = try? JSON(parsing: Array(bytes[(split + end.count)...]))
    else { throw Fault(reason: "the server's reply is no HTTP with JSON") }
    return Reply(status: status, body: body)
  }
}

/// One HTTP/1.1 connection over the loopback interface that is used again and again, as a backend's pool does. It blocks,
/// so it belongs to a thread of its own.
final class KeptConnection {
  typealias Fault = LoopbackSocket.Fault

  struct Reply {
    let status: Int
    let body: [UInt8]
    /// Whether the server takes no further request on this connection.
    let closes: Bool
  }

  private let socket: LoopbackSocket
  private let head: String
  private var buffer: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  init(port: UInt16, token: String) throws(Fault) {
    socket = try LoopbackSocket(port: port)
    head = "Host: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
  }

  func post(_ path: String, _ body: [UInt8]) throws(Fault) -> Reply {
    try send("POST", path, body)
    return try receiveReply()
  }

  func send(_ method: String, _ path: String, _ body: [UInt8]) throws(Fault) {
    let start = "\(method) \(path) HTTP/1.1\r\n\(head)"
    let length = method == "GET" ? "" : "Content-Length: \(body.count)\r\n"
    try socket.send(Array("\(start)\(length)\r\n".utf8) + body)
  }

  /// The reply to what was sent.
  func receiveReply() throws(Fault) -> Reply {
    buffer.removeAll(keepingCapacity: true)
    let end = try readHead()
    let lines = String(decoding: buffer[..<end], as: UTF8.self).lowercased().split(separator: "\r\n")
    let length = lines.lazy.filter { $0.hasPrefix("content-length:") }
      .compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }), let length else {
      throw Fault(reason: "the server's reply is no HTTP")
    }
    while buffer.count < end + 4 + length { try receive() }
    return Reply(
      status: status, body: Array(buffer[(end + 4)..<(end + 4 + length)]),
      closes: lines.contains { $0.hasPrefix("connection:") && $0.hasSuffix("close") })
  }

  /// Where the empty line begins that ends the head.
  private func readHead() throws(Fault) -> Int {
    var searched = 0
    while true {
      try receive()
      for index in searched..<max(searched, buffer.count - 3)
      where buffer[index] == 13 && buffer[index + 1] == 10 && buffer[index + 2] == 13 && buffer[index + 3] == 10 {
        return index
      }
      searched = max(0, buffer.count - 3)
    }
  }

  private func receive() throws(Fault) {
    guard try socket.receive(into: &buffer, by: &chunk) else {
      throw Fault(reason: "the server closed the connection")
    }
  }
}

/// One TCP connection over the loopback interface. It blocks, so it belongs to a thread of its own.
struct LoopbackSocket: ~Copyable {
  struct Fault: Error, Sendable { let reason: String }

  /// After which a silent server counts as gone.
  private static let seconds = 30

  private let descriptor: Int32

  init(port: UInt16) throws(Fault) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Fault(reason: "no socket") }
    var limit = timeval(tv_sec: Self.seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    guard Self.connect(descriptor, to: port) else {
      close(descriptor)
      throw Fault(reason: "no connection to port \(port)")
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  borrowing func send(_ bytes: [UInt8]) throws(Fault) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Fault(reason: "the server took no request") }
      rest = rest.dropFirst(count)
    }
  }

  /// Appends what has come, at most as much as the chunk holds; false where the server has closed.
  borrowing func receive(into buffer: inout [UInt8], by chunk: inout [UInt8]) throws(Fault) -> Bool {
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count >= 0 else { throw Fault(reason: "the server gave no reply") }
    buffer += chunk[..<count]
    return count > 0
  }

  static func connect(_ descriptor: Int32, to port: UInt16) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
