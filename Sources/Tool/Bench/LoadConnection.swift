import Glibc

/// One kept connection of the load generator, with at most one request under way. It never blocks.
struct LoadConnection {
  typealias Reply = (status: Int, body: ArraySlice<UInt8>)

  private(set) var descriptor: Int32
  private let port: UInt16
  private var incoming: [UInt8] = []

  init?(port: UInt16) {
    self.port = port
    guard let descriptor = Self.open(port) else { return nil }
    self.descriptor = descriptor
  }

  func end() { close(descriptor) }

  /// Sends a whole request; false where the server takes no more of it at once, though one fits into what the system
  /// buffers.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    incoming.removeAll(keepingCapacity: true)
    return bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      == bytes.count
  }

  /// What has come by now.
  enum Progress {
    case waiting
    case replied(Reply)
    /// The server closed the connection before it had replied, or what it said is no HTTP.
    case broken
  }

  mutating func receive(by chunk: inout [UInt8]) -> Progress {
    let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return .waiting }
    guard count > 0 else { return .broken }
    incoming += chunk[..<count]
    guard let head = incoming.firstRange(of: Self.emptyLine) else { return .waiting }
    let text = String(decoding: incoming[..<head.lowerBound], as: UTF8.self)
    let lines = text.split(separator: "\r\n")
    let length = lines.lazy.filter { $0.lowercased().hasPrefix("content-length:") }
      .compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }), let length else {
      return .broken
    }
    guard incoming.count >= head.upperBound + length else { return .waiting }
    return .replied((status, incoming[head.upperBound..<head.upperBound + length]))
  }

  /// A new connection in the place of a broken one.
  mutating func reopen() -> Bool {
    close(descriptor)
    incoming.removeAll(keepingCapacity: true)
    guard let descriptor = Self.open(port) else { return false }
    self.descriptor = descriptor
    return true
  }

  private static let emptyLine = Array("\r\n\r\n".utf8)

  private static func open(_ port: UInt16) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    guard LoopbackSocket.connect(descriptor, to: port) else {
      close(descriptor)
      return nil
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    return descriptor
  }
}
