import Base

/// The application behind the transport.
package protocol HTTPHandler: Sendable {
  /// Reads from a request's header what later calls about the same request need. The transport keeps it in the
  /// request's `heading`. Called once, on a thread that reads sockets, so it must not block.
  func heading(of request: HTTPRequest) -> (any Sendable)?

  /// Decides what to do with a request's body, when the header has arrived and the body has not. Called only for
  /// requests with a body, on a thread that reads sockets, so it must not block.
  func bodyAdmission(of request: HTTPRequest) -> BodyAdmission

  /// Decides what to do with a request that has arrived whole, before it waits for its turn. Called on a thread that
  /// reads sockets, so it must not block.
  func admission(of request: HTTPRequest) -> Admission

  /// Whose turn the request takes among those of others. Called on a thread that reads sockets.
  func flow(of request: HTTPRequest) -> Flow

  /// Counts what a handled request cost: the bytes of its reply, and the time of its handling on `WorkerThreads`.
  func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64)

  /// Answers one request. Runs on `WorkerThreads`, never on a thread that reads sockets.
  ///
  /// For `HEAD` return what `GET` would: the transport sends the length and keeps the body back. If the server stops
  /// before the answer is there, the task is cancelled and its answer is dropped.
  func respond(to request: HTTPRequest) async -> HTTPResponse

  /// The reply to a request that does not reach `respond`: framing faults, size limits, rate limits, overload.
  ///
  /// Called on a thread that reads sockets, so it must not block. Use `fault.status`. The transport closes the
  /// connection afterwards if it is not certain where the next request begins.
  ///
  /// - Parameter request: only its path is known if its header was refused; nil if not even that.
  func refusal(_ fault: HTTPFault, of request: HTTPRequest?) -> HTTPResponse

  /// Further header fields of a refusal, if the request's header was read before. Called on a thread that reads
  /// sockets, so it must not block.
  func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)]
}

extension HTTPHandler {
  package func heading(of request: HTTPRequest) -> (any Sendable)? { nil }
  package func bodyAdmission(of request: HTTPRequest) -> BodyAdmission {
    .taken(from: .address(ClientAddress(request.remoteAddress)))
  }
  package func admission(of request: HTTPRequest) -> Admission { .normal }
  package func flow(of request: HTTPRequest) -> Flow { Flow(stranger: request.remoteAddress) }
  package func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64) {}
  package func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)] { [] }
}

/// What to do with a request that has arrived whole.
package enum Admission: Sendable {
  /// Handled at once and never refused for load, such as requests that ask how the server is.
  case essential
  /// Handled in its turn.
  case normal
  /// A request that begins something. It waits behind requests that finish something and is refused first: an
  /// overloaded server completes what it has begun.
  case deferrable
  case refused(HTTPFault)
}

/// What to do with a request's body, before a byte of it is taken.
package enum BodyAdmission: Sendable {
  case taken(from: BodyOwner)
  case refused(HTTPResponse)
}

/// Why a server refuses a request for load.
package enum Overload: String, Sendable, Hashable, CaseIterable {
  /// The request would wait longer than it may.
  case delay
  /// No further request may wait: `maxInFlight` are handled or wait already.
  case full
  /// The memory for bodies is used up.
  case memory
}

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

  /// Seconds for `Retry-After`, which the transport adds if the reply lacks it; nil if the fault does not pass by
  /// itself.
  package var retryAfter: Int? {
    switch self {
    case .overloaded(_, let seconds), .rateLimited(let seconds): seconds
    case .shuttingDown: 1
    default: nil
    }
  }
}
