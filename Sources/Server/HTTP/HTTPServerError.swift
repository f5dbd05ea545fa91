import Glibc

/// Why a server could not start.
package enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// A limit that is zero or negative, or larger than the C library can take; the member's name.
  case invalidLimit(String)
  /// The socket could not be bound; the number is `errno`.
  case cannotListen(address: String, port: UInt16, errno: Int32)
  /// libmicrohttpd refused to start: no threads or descriptors left.
  case cannotStart
  /// This libmicrohttpd was built without GnuTLS.
  case noTLS

  package var description: String {
    switch self {
    case .invalidAddress(let address): "not a numeric IPv4 or IPv6 address: \(address)"
    case .invalidLimit(let name): "\(name) is out of range"
    case .cannotListen(let address, let port, let code):
      "cannot listen on \(address) port \(port): \(String(cString: strerror(code)))"
    case .noTLS: "this machine's libmicrohttpd speaks no TLS: it was built without GnuTLS"
    case .cannotStart: "the HTTP server could not start its threads"
    }
  }
}
