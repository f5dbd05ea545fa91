import Glibc

/// A blocking client on a plain socket that sends exactly the bytes it is given.
///
/// Call it through `blocking`: the cooperative pool has only two threads here, which the server's handlers need.
package final class RawClient {
  package enum Failure: Error, Equatable {
    case cannotConnect(Int32)
    case timedOut
    /// The peer ended or reset the connection; has the bytes read until then.
    case closed(String)
    case notHTTP(String)
  }

  package struct Response: Sendable {
    package let status: Int
    package let head: String
    package let bytes: [UInt8]
    package var body: String { String(decoding: bytes, as: UTF8.self) }

    package func header(_ name: String) -> String? {
      let prefix = name.lowercased() + ":"
      return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
        .map { String($0.dropFirst(prefix.count).drop { $0 == " " }) }
    }
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  package init(port: UInt16, timeout: Int = 10, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: timeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      let reason = errno
      throw Failure.cannotConnect(reason)
    }
  }

  deinit { close(descriptor) }

  /// False when the peer no longer takes bytes.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Ends our side of the stream, with the other still open.
  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads one response, its body by `Content-Length`; none after `HEAD`.
  package func response(hasBody: Bool = true) throws -> Response {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let start = (0..<max(0, buffer.count - 3)).first(where: { Array(buffer[$0..<$0 + 4]) == end }) {
        let head = String(decoding: buffer[..<start], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3)) else {
          throw Failure.notHTTP(head)
        }
        buffer.removeFirst(start + 4)
        let length = Response(status: status, head: head, bytes: []).header("Content-Length").flatMap { Int($0) } ?? 0
        let count = hasBody ? length : 0
        while buffer.count < count { try fill() }
        let body = Array(buffer[..<count])
        buffer.removeFirst(count)
        return Response(status: status, head: head, bytes: body)
      }
      try fill()
    }
  }

  /// Returns the received bytes once the peer has closed; throws if it does not close in time.
  package func untilClosed() throws -> String {
    while true {
      do { try fill() } catch Failure.closed(let rest) { return rest }
    }
  }

  private func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == EAGAIN { throw Failure.timedOut }
    guard count > 0 else { throw Failure.closed(String(decoding: buffer, as: UTF8.self)) }
    buffer += chunk[..<count]
  }
}
