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
