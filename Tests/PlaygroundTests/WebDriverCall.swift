import Base

@testable import MdocTool

/// One call of chromedriver: JSON to and fro over HTTP/1.1.
struct WebDriverCall: Sendable {
  let port: UInt16
  let method: String
  let path: String
  let body: JSON?

  /// The reply's `value`.
  func run() -> Result<JSON, BrowserFault> {
    do throws(LoopbackSocket.Fault) {
      let (status, reply) = try exchange()
      guard let json = try? JSON(parsing: reply), let value = json["value"] else {
        return .failure(BrowserFault("chromedriver's reply is no JSON: \(path)"))
      }
      guard status == 200 else {
        return .failure(BrowserFault("\(path): \(value["error"]?.string ?? "") \(value["message"]?.string ?? "")"))
      }
      return .success(value)
    } catch {
      return .failure(BrowserFault("\(path): \(error.reason)"))
    }
  }

  private func exchange() throws(LoopbackSocket.Fault) -> (status: Int, body: [UInt8]) {
    let socket = try LoopbackSocket(port: port)
    let content = body?.serialized() ?? []
    let head = [
      "\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Content-Type: application/json",
      "Content-Length: \(content.count)", "Connection: close",
    ]
    try socket.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + content)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if let reply = Self.complete(bytes) { return reply }
      guard try socket.receive(into: &bytes, by: &chunk) else {
        throw LoopbackSocket.Fault(reason: "the driver closed the connection")
      }
    }
  }

  /// Status and body, once as much has come as `Content-Length` says.
  private static func complete(_ bytes: [UInt8]) -> (status: Int, body: [UInt8])? {
    let end = Array("\r\n\r\n".utf8)
    guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
    let lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")
    let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst("content-length:".count).filter { $0 != " " }) }
    let body = bytes[(split + end.count)...]
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }), let length,
      body.count >= length
    else { return nil }
    return (status, Array(body))
  }
}
