import App
import Base

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
