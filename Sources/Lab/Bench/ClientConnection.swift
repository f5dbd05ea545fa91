import Base
import Glibc

/// A client's HTTP/1.1 connection without TLS, for one request after another. `send` and `receive` block, so it belongs
/// to a thread of its own; `sendAtOnce` and `receiveAtOnce` never block.
package final class ClientConnection {
  package struct Fault: Error, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  package struct Reply: Sendable {
    package let status: Int
    package let body: [UInt8]
    /// Whether the server takes no further request on this connection.
    package let closes: Bool
  }

  /// The state of the reply to the request in flight.
  enum Progress {
    case waiting
    case replied(Reply)
    /// The server closed the connection before a whole reply, or the reply is no HTTP.
    case broken
  }

  private struct Head {
    let status: Int
    /// Nil if the body ends with the connection.
    let length: Int?
    let closes: Bool
    let end: Int
  }

  private static let chunkBytes = 1 << 16

  let descriptor: Int32
  private let peer: String
  private let limit: Int
  private let patience: Int
  private let headers: String
  private var incoming: [UInt8] = []
  private var head: Head?

  /// - Parameters:
  ///   - headers: lines that every request has beside Host, Content-Type and Content-Length.
  ///   - peer: what error texts call the server.
  ///   - patience: seconds after which a silent server counts as gone.
  ///   - limit: bytes of a reply after which nothing more is read.
  package init(
    host: String = "127.0.0.1", port: UInt16, headers: [String] = [], peer: String = "the server", patience: Int = 30,
    limit: Int = .max
  ) throws(Fault) {
    descriptor = try Self.connect(host, port, patience)
    self.peer = peer
    self.limit = limit
    self.patience = patience
    let name = host.contains(":") ? "[\(host)]" : host
    self.headers = (["Host: \(name):\(port)", "Content-Type: application/json"] + headers).map { $0 + "\r\n" }.joined()
  }

  /// A connection to this machine, with an API key.
  package convenience init(port: UInt16, token: String) throws(Fault) {
    try self.init(port: port, headers: ["Authorization: Bearer \(token)"])
  }

  deinit { close(descriptor) }

  private static func connect(_ host: String, _ port: UInt16, _ patience: Int) throws(Fault) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0 else { throw Fault(reason: "there is no host \(host)") }
    defer { freeaddrinfo(found) }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    var on: Int32 = 1
    var next = found
    while let address = next?.pointee {
      next = address.ai_next
      let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { continue }
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
      close(descriptor)
    }
    throw Fault(reason: "no connection to \(host) port \(port)")
  }
}

// MARK: Requests

extension ClientConnection {
  package func post(_ path: String, _ body: [UInt8]) throws(Fault) -> Reply {
    try send("POST", path, body)
    return try receive()
  }

  package func send(_ method: String, _ path: String, _ body: [UInt8] = []) throws(Fault) {
    var rest = request(method, path, body)[...]
    while !rest.isEmpty {
      let count = write(rest, flags: 0)
      guard count > 0 else { throw Fault(reason: "\(peer) took no request") }
      rest = rest.dropFirst(count)
    }
  }

  /// False if the server takes no more of it at once, though one request fits into what the system buffers.
  func sendAtOnce(_ method: String, _ path: String, _ body: [UInt8]) -> Bool {
    let bytes = request(method, path, body)
    return write(bytes[...], flags: Int32(MSG_DONTWAIT)) == bytes.count
  }

  private func request(_ method: String, _ path: String, _ body: [UInt8]) -> [UInt8] {
    incoming.removeAll(keepingCapacity: true)
    head = nil
    let length = method == "GET" ? "" : "Content-Length: \(body.count)\r\n"
    return Array("\(method) \(path) HTTP/1.1\r\n\(headers)\(length)\r\n".utf8) + body
  }

  private func write(_ bytes: ArraySlice<UInt8>, flags: Int32) -> Int {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags | Int32(MSG_NOSIGNAL)) }
  }
}

// MARK: Replies

extension ClientConnection {
  /// The reply to what was sent.
  package func receive() throws(Fault) -> Reply {
    while true {
      let count = read(flags: 0)
      guard count >= 0 else {
        // What SO_RCVTIMEO ends is a silence; what else ends early is the peer's end.
        throw Fault(
          reason: errno == EAGAIN ? "\(peer) gave no reply in \(patience) s" : "\(peer) closed the connection")
      }
      if let reply = try reply(isEnded: count == 0 || incoming.count >= limit) { return reply }
    }
  }

  func receiveAtOnce() -> Progress {
    let count = read(flags: Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return .waiting }
    guard count >= 0 else { return .broken }
    do throws(Fault) {
      return try reply(isEnded: count == 0).map { .replied($0) } ?? .waiting
    } catch {
      return .broken
    }
  }

  /// How much has come: 0 if the server has closed, less if nothing came.
  private func read(flags: Int32) -> Int {
    withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 1) { chunk in
      let count = recv(descriptor, chunk.baseAddress, chunk.count, flags)
      if count > 0 { incoming += chunk[..<count] }
      return count
    }
  }

  /// Nil if it is not complete.
  private func reply(isEnded: Bool) throws(Fault) -> Reply? {
    if head == nil { head = try readHead() }
    guard let head else {
      guard isEnded else { return nil }
      throw Fault(reason: incoming.isEmpty ? "\(peer) closed the connection" : "\(peer)'s reply is no HTTP")
    }
    let rest = incoming[head.end...]
    guard isEnded || head.length.map({ rest.count >= $0 }) ?? false else { return nil }
    guard rest.count >= head.length ?? 0 else { throw Fault(reason: "\(peer) closed the connection") }
    return Reply(
      status: head.status, body: Array(rest.prefix(head.length ?? rest.count)), closes: head.closes || isEnded)
  }

  /// Nil if not all of it is here.
  private func readHead() throws(Fault) -> Head? {
    guard let emptyLine = incoming.firstRange(of: Self.emptyLine) else { return nil }
    let text = String(decoding: incoming[..<emptyLine.lowerBound], as: UTF8.self)
    let lines = text.lowercased().split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Fault(reason: "\(peer)'s reply is no HTTP")
    }
    let length = lines.lazy.filter { $0.hasPrefix("content-length:") }
      .compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first { $0 >= 0 }
    let closes = lines.contains { $0.hasPrefix("connection:") && $0.hasSuffix("close") }
    return Head(status: status, length: length, closes: closes, end: emptyLine.upperBound)
  }

  private static let emptyLine = Array("\r\n\r\n".utf8)
}

// MARK: JSON

/// Calls a server on this machine with JSON: one connection a call.
package struct LoopbackClient: Sendable {
  package struct Reply: Sendable {
    package let status: Int
    package let body: JSON

    /// The code of a problem, or of the session's refusal.
    package var code: String? { body["code"]?.string ?? body["last_error"]?["code"]?.string }
  }

  package typealias Fault = ClientConnection.Fault

  package let port: UInt16
  package let token: String

  package init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  package func post(_ path: String, _ body: JSON) async throws(Fault) -> Reply { try await call("POST", path, body) }

  package func get(_ path: String) async throws(Fault) -> Reply { try await call("GET", path, nil) }

  /// The call blocks, so it has a thread of its own: the server's work shares the others with us.
  private func call(_ method: String, _ path: String, _ body: JSON?) async throws(Fault) -> Reply {
    let result = Locked<Result<Reply, Fault>>(.failure(Fault(reason: "no thread for the call")))
    await BackgroundThread.run {
      do throws(Fault) {
        let reply = try exchange(method, path, body)
        result.withLock { $0 = .success(reply) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    return try result.withLock { $0 }.get()
  }

  private func exchange(_ method: String, _ path: String, _ body: JSON?) throws(Fault) -> Reply {
    let connection = try ClientConnection(
      port: port, headers: ["Authorization: Bearer \(token)", "Connection: close"])
    try connection.send(method, path, body?.serialized() ?? [])
    let reply = try connection.receive()
    guard let json = try? JSON(parsing: reply.body) else {
      throw Fault(reason: "the server's reply is no HTTP with JSON")
    }
    return Reply(status: reply.status, body: json)
  }
}
