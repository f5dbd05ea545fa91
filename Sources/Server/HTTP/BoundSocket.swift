import Base
import Glibc

/// A listening socket that nobody serves yet, so that its port is known to what will be served on it. Peers that
/// connect meanwhile wait in its queue.
package final class BoundSocket: Sendable {
  package let address: String
  /// The port that it got, also where any was asked for.
  package let port: UInt16
  private let descriptor: Locked<Int32?>

  package init(address: String, port: UInt16) throws(HTTPServerError) {
    let socket = try ListeningSocket.open(address: address, port: port)
    self.address = address
    self.port = socket.port
    descriptor = Locked(socket.descriptor)
  }

  /// The descriptor, for the one who serves it and closes it from now on.
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
