import Glibc
import Primitives

/// One HTTP/1.1 connection over the loopback interface that is used again and again, as a backend's pool does. It blocks,
/// so it belongs to a thread of its own.
final class KeptConnection {
  struct Fault: Error { let reason: String }

  private let descriptor: Int32
  private let head: String
  private var buffer: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  init(port: UInt16, token: String) throws(Fault) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    head = "Host: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Fault(reason: "no connection to port \(port)") }
  }

  deinit { close(descriptor) }

  func post(_ path: String, _ body: [UInt8]) throws(Fault) -> (status: Int, body: [UInt8]) {
    try send(Array("POST \(path) HTTP/1.1\r\n\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    buffer.removeAll(keepingCapacity: true)
    let end = try readHead()
    let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
    let length = lines.lazy.filter { $0.lowercased().hasPrefix("content-length:") }
      .compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }), let length else {
      throw Fault(reason: "the server's reply is no HTTP")
    }
    while buffer.count < end + 4 + length { try receive() }
    return (status, Array(buffer[(end + 4)..<(end + 4 + length)]))
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
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count > 0 else { throw Fault(reason: "the server closed the connection") }
    buffer += chunk[..<count]
  }

  private func send(_ bytes: [UInt8]) throws(Fault) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Fault(reason: "the server took no request") }
      rest = rest.dropFirst(count)
    }
  }
}
