import Glibc

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
