import Base
import Glibc

/// Makes the listening socket. libmicrohttpd could make it too, but would tell neither why it failed nor which free
/// port it took.
enum ListeningSocket {
  /// Binds and listens, non-blocking and close-on-exec; the caller owns the descriptor.
  static func open(address: String, port: UInt16) throws(HTTPServerError) -> (descriptor: Int32, port: UInt16) {
    var storage = sockaddr_storage()
    guard let length = numericAddress(address, port: port, into: &storage) else { throw .invalidAddress(address) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(Int32(storage.ss_family), kind, 0)
    guard descriptor >= 0 else { throw .cannotListen(address: address, port: port, errno: errno) }
    var on: Int32 = 1
    var only: Int32 = address == "::" ? 0 : 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if Int32(storage.ss_family) == AF_INET6 {
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, size)
    }
    let bound = withGenericAddress(&storage) { bind(descriptor, $0, length) }
    guard bound == 0, listen(descriptor, SOMAXCONN) == 0 else {
      let code = errno
      close(descriptor)
      throw .cannotListen(address: address, port: port, errno: code)
    }
    var actualLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
    _ = withGenericAddress(&storage) { getsockname(descriptor, $0, &actualLength) }
    return (descriptor, portNumber(of: storage))
  }

  /// The address of a peer as text; empty if it cannot be read. An IPv4 peer of a dual-stack socket is shown as IPv4.
  static func numericText(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address else { return "" }
    let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
    let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer -> String in
      guard let base = buffer.baseAddress,
        getnameinfo(address, socklen_t(length), base, socklen_t(NI_MAXHOST), nil, 0, NI_NUMERICHOST) == 0
      else { return "" }
      return String(cString: base)
    }
    let mapped = "::ffff:"
    return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
  }

  private static func numericAddress(_ text: String, port: UInt16, into storage: inout sockaddr_storage) -> socklen_t? {
    var four = sockaddr_in()
    if inet_pton(AF_INET, text, &four.sin_addr) == 1 {
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
      return socklen_t(MemoryLayout<sockaddr_in>.size)
    }
    var six = sockaddr_in6()
    if inet_pton(AF_INET6, text, &six.sin6_addr) == 1 {
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
      return socklen_t(MemoryLayout<sockaddr_in6>.size)
    }
    return nil
  }

  private static func portNumber(of storage: sockaddr_storage) -> UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      // The port sits at the same offset in both families, right after the family itself.
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: MemoryLayout<sa_family_t>.size, as: UInt16.self))
    }
  }

  private static func withGenericAddress<R>(
    _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> R
  ) -> R {
    withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
  }
}

/// A listening socket that no server uses yet, so that its port is known before the server starts. Peers that connect
/// meanwhile wait in its queue.
package final class BoundSocket: Sendable {
  package let address: String
  /// The port that it got; one that the system chose if 0 was asked for.
  package let port: UInt16
  private let descriptor: Locked<Int32?>

  package init(address: String, port: UInt16) throws(HTTPServerError) {
    let socket = try ListeningSocket.open(address: address, port: port)
    self.address = address
    self.port = socket.port
    descriptor = Locked(socket.descriptor)
  }

  /// Hands over the descriptor. The caller closes it from now on.
  ///
  /// - Throws: `cannotStart` if it was handed over before.
  package func take() throws(HTTPServerError) -> Int32 {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { throw .cannotStart }
    return descriptor
  }

  deinit {
    descriptor.withLock { descriptor in
      if let descriptor { _ = close(descriptor) }
    }
  }
}
