/// Why a request was turned away before it reached the application.
package enum HTTPFault: Error, Equatable, Sendable {
  /// The bytes are not a request that has exactly one meaning (RFC 9112); the text names the rule, never the bytes.
  case malformed(String)
  /// The declared body is larger than `limit` bytes.
  case bodyTooLarge(limit: Int)
  /// The request target is longer than `limit` bytes.
  case targetTooLong(limit: Int)
  /// The request line and the header fields together are larger than `limit` bytes.
  case headersTooLarge(limit: Int)
  /// The server has more to do than it can in time; try again after so many seconds.
  case overloaded(Overload, retryAfter: Int)
  /// This client asks more often than it may; try again after so many seconds.
  case rateLimited(retryAfter: Int)
  /// The server is stopping.
  case shuttingDown

  /// The status that the reply should carry.
  package var status: Int {
    switch self {
    case .malformed: 400
    case .bodyTooLarge: 413
    case .targetTooLong: 414
    case .headersTooLarge: 431
    case .rateLimited: 429
    case .overloaded, .shuttingDown: 503
    }
  }

  /// Seconds for `Retry-After`, which the transport adds where the reply does not have it.
  package var retryAfter: Int? {
    switch self {
    case .overloaded(_, let seconds), .rateLimited(let seconds): seconds
    case .shuttingDown: 1
    default: nil
    }
  }
}
