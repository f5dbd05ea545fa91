import Glibc
import Primitives
import VerifierHTTP

/// A small HTTP/1.1 client for JSON over the loopback interface: one connection a call.
struct LoopbackClient: Sendable {
  struct Reply: Sendable {
    let status: Int
    let body: JSON

    /// The code of a problem, or of the session's refusal.
    var code: String? { body["code"]?.string ?? body["last_error"]?["code"]?.string }
  }

  struct Fault: Error, Sendable { let reason: String }

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

  private func exchange(_ request: [UInt8]) throws(Fault) -> Reply {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Fault(reason: "no socket") }
    defer { close(descriptor) }
    try connect(descriptor)
    try send(request, to: descriptor)
    return try reply(in: receive(from: descriptor))
  }

  private func connect(_ descriptor: Int32) throws(Fault) {
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Fault(reason: "no connection to port \(port)") }
  }

  private func send(_ bytes: [UInt8], to descriptor: Int32) throws(Fault) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Fault(reason: "the server took no request") }
      rest = rest.dropFirst(count)
    }
  }

  /// Everything until the server closes, which it was asked to.
  private func receive(from descriptor: Int32) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count == 0 { return bytes }
      guard count > 0 else { throw Fault(reason: "the server gave no reply") }
      bytes += chunk[..<count]
    }
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
