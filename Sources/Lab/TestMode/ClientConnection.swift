import Base
import Glibc

/// The reason why a server's reply is missing.
package struct ClientError: Error, Sendable {
  package let reason: String

  package init(reason: String) { self.reason = reason }
}

/// A client's HTTP/1.1 connection without TLS. Use it on a separate thread: `send` and `receive` block.
package final class ClientConnection {
  package struct Reply: Sendable {
    package let status: Int
    package let body: [UInt8]
    /// True if the server accepts no further request on this connection.
    package let closes: Bool
  }

  /// The length is nil if the body ends with the connection.
  private typealias Head = (status: Int, length: Int?, closes: Bool, end: Int)

  package let descriptor: Int32
  private let peer: String
  private let limit: Int
  private let patience: Int
  private let headers: String
  private var incoming: [UInt8] = []
  private var head: Head?

  /// - Parameters:
  ///   - headers: header lines for every request, besides Host, Content-Type and Content-Length.
  ///   - peer: the server's name in error texts.
  ///   - patience: seconds without a reply after which the server counts as gone.
  ///   - limit: the maximum number of bytes of a reply.
  package init(
    host: String = "127.0.0.1", port: UInt16, headers: [String] = [], peer: String = "the server", patience: Int = 30,
    limit: Int = .max
  ) throws(ClientError) {
    descriptor = try Self.connect(host, port, patience)
    self.peer = peer
    self.limit = limit
    self.patience = patience
    let name = host.contains(":") ? "[\(host)]" : host
    self.headers = (["Host: \(name):\(port)", "Content-Type: application/json"] + headers).map { $0 + "\r\n" }.joined()
  }

  /// A connection to this machine, with an API key.
  package convenience init(port: UInt16, token: String) throws(ClientError) {
    try self.init(port: port, headers: ["Authorization: Bearer \(token)"])
  }

  deinit { close(descriptor) }

  private static func connect(_ host: String, _ port: UInt16, _ patience: Int) throws(ClientError) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0 else {
      throw ClientError(reason: "unknown host \(host)")
    }
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
    throw ClientError(reason: "no connection to \(host) port \(port)")
  }

  // MARK: Requests

  package func post(_ path: String, _ body: [UInt8]) throws(ClientError) -> Reply {
    try send("POST", path, body)
    return try receive()
  }

  package func send(_ method: String, _ path: String, _ body: [UInt8] = []) throws(ClientError) {
    var rest = request(method, path, body)[...]
    while !rest.isEmpty {
      let count = write(rest)
      guard count > 0 else { throw ClientError(reason: "cannot send the request to \(peer)") }
      rest = rest.dropFirst(count)
    }
  }

  /// Makes the bytes of the next request, and discards the previous reply.
  package func request(_ method: String, _ path: String, _ body: [UInt8]) -> [UInt8] {
    incoming.removeAll(keepingCapacity: true)
    head = nil
    let length = method == "GET" ? "" : "Content-Length: \(body.count)\r\n"
    return Array("\(method) \(path) HTTP/1.1\r\n\(headers)\(length)\r\n".utf8) + body
  }

  package func write(_ bytes: ArraySlice<UInt8>, flags: Int32 = 0) -> Int {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags | Int32(MSG_NOSIGNAL)) }
  }

  // MARK: Replies

  /// Receives the reply to the last request.
  package func receive() throws(ClientError) -> Reply {
    while true {
      let count = read()
      guard count >= 0 else {
        // After a timeout, SO_RCVTIMEO gives EAGAIN. Every other error means that the peer has closed the connection.
        let reason = errno == EAGAIN ? "gave no reply in \(patience) s" : "closed the connection"
        throw ClientError(reason: "\(peer) \(reason)")
      }
      if let reply = try reply(isEnded: count == 0 || incoming.count >= limit) { return reply }
    }
  }

  /// Reads from the connection. Returns the number of received bytes: 0 if the server has closed the connection,
  /// negative if nothing arrived.
  package func read(flags: Int32 = 0) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { chunk in
      let count = recv(descriptor, chunk.baseAddress, chunk.count, flags)
      if count > 0 { incoming += chunk[..<count] }
      return count
    }
  }

  /// The reply to the last request; nil if it is incomplete.
  package func reply(isEnded: Bool) throws(ClientError) -> Reply? {
    if head == nil { head = try readHead() }
    guard let head else {
      guard isEnded else { return nil }
      throw ClientError(reason: incoming.isEmpty ? "\(peer) closed the connection" : "\(peer)'s reply is not HTTP")
    }
    let rest = incoming[head.end...]
    guard isEnded || head.length.map({ rest.count >= $0 }) ?? false else { return nil }
    guard rest.count >= head.length ?? 0 else { throw ClientError(reason: "\(peer) closed the connection") }
    return Reply(
      status: head.status, body: Array(rest.prefix(head.length ?? rest.count)), closes: head.closes || isEnded)
  }

  /// The head of the reply; nil if it is incomplete.
  private func readHead() throws(ClientError) -> Head? {
    guard let emptyLine = incoming.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let text = String(decoding: incoming[..<emptyLine.lowerBound], as: UTF8.self)
    let lines = text.lowercased().split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw ClientError(reason: "\(peer)'s reply is not HTTP")
    }
    let length = lines.lazy.filter { $0.hasPrefix("content-length:") }
      .compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first { $0 >= 0 }
    let closes = lines.contains { $0.hasPrefix("connection:") && $0.hasSuffix("close") }
    return (status, length, closes, emptyLine.upperBound)
  }
}

/// Calls a server on this machine with JSON, with one connection for each call.
package struct LoopbackClient: Sendable {
  package struct Reply: Sendable {
    package let status: Int
    package let body: JSON

    /// The code of a problem, or of the session's rejection.
    package var code: String? { body["code"]?.string ?? body["last_error"]?["code"]?.string }
  }

  package let port: UInt16
  package let token: String

  package init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  package func post(_ path: String, _ body: JSON) async throws(ClientError) -> Reply {
    try await call("POST", path, body)
  }

  package func get(_ path: String) async throws(ClientError) -> Reply { try await call("GET", path, nil) }

  /// The call blocks. It runs on its own thread, because the server needs all other threads.
  private func call(_ method: String, _ path: String, _ body: JSON?) async throws(ClientError) -> Reply {
    let result = Locked<Result<Reply, ClientError>>(
      .failure(ClientError(reason: "the system provides no thread for the call")))
    await BackgroundThread.run {
      let made = Result { () throws(ClientError) in try exchange(method, path, body) }
      result.withLock { $0 = made }
    }
    return try result.withLock { $0 }.get()
  }

  private func exchange(_ method: String, _ path: String, _ body: JSON?) throws(ClientError) -> Reply {
    let connection = try ClientConnection(port: port, headers: ["Authorization: Bearer \(token)", "Connection: close"])
    try connection.send(method, path, body?.serialized() ?? [])
    let reply = try connection.receive()
    guard let json = try? JSON(parsing: reply.body) else {
      throw ClientError(reason: "the server's reply has no JSON body")
    }
    return Reply(status: reply.status, body: json)
  }
}
