import Base
import Glibc

/// A listener that sends each connection the next of its replies and closes it; nil closes without a reply. After the
/// last reply it is silent: it accepts connections and sends nothing.
final class ScriptedListener: Sendable {
  struct Fault: Error {}

  let url: String
  private let descriptor: Int32

  init(replies: [String?]) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isListening else { throw Fault() }
    self.descriptor = descriptor
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
    guard !replies.isEmpty else { return }
    // Accepting blocks, and would take a thread of the pool from other tests.
    let isStarted = BackgroundThread.start {
      for reply in replies {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        // The whole request is read, so that closing does not reset the connection.
        Self.readRequest(connection)
        if let reply { _ = Array(reply.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) } }
      }
    }
    guard isStarted else { throw Fault() }
  }

  deinit { close(descriptor) }

  private static func readRequest(_ connection: Int32) {
    var text = ""
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return }
      text += String(decoding: chunk[..<count], as: UTF8.self)
      let head = text.firstRange(of: "\r\n\r\n")
      if head != nil, text.hasPrefix("GET ") { return }
      guard let head,
        let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) })
      else { continue }
      if text[head.upperBound...].utf8.count >= length { return }
    }
  }
}
