/// The application behind the transport.
package protocol HTTPHandler: Sendable {
  /// What is to be known of a request's header wherever the request is asked about afterwards, in its `heading`. Called
  /// once, as `admission` is.
  func heading(of request: HTTPRequest) -> (any Sendable)?

  /// Decides over a request whose header is here, and whose body is still to come. Called as `admission` is, for requests
  /// with a body alone.
  func bodyAdmission(of request: HTTPRequest) -> BodyAdmission

  /// Decides over a request that is here, before it waits for its turn. Called on a thread that reads sockets, so it must
  /// not block.
  func admission(of request: HTTPRequest) -> Admission

  /// Answers one request. Runs on `WorkerThreads`, never on a thread that reads sockets.
  ///
  /// For `HEAD` return what `GET` would: the transport sends the length and keeps the body back. The task is cancelled
  /// when the server stops before the answer is there; what it returns after that is dropped.
  func respond(to request: HTTPRequest) async -> HTTPResponse

  /// The reply for what never reaches `respond`: framing faults, size limits, overload.
  ///
  /// Called on a thread that reads sockets, so it must not block. Use `fault.status`. The transport closes the
  /// connection afterwards wherever the next request's first byte is not known for certain.
  func refusal(_ fault: HTTPFault) -> HTTPResponse

  /// Fields that a refusal has besides, where the request's header was read before it was refused. Called as
  /// `refusal` is.
  func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)]
}

extension HTTPHandler {
  package func heading(of request: HTTPRequest) -> (any Sendable)? { nil }
  package func bodyAdmission(of request: HTTPRequest) -> BodyAdmission {
    .taken(from: .address(ClientAddress(request.remoteAddress)))
  }
  package func admission(of request: HTTPRequest) -> Admission { .normal }
  package func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)] { [] }
}

/// What is to become of a request that has arrived whole, before anything is done for it.
package enum Admission: Sendable {
  /// Handled at once and never refused for load: what tells how the server is.
  case essential
  /// Handled in its turn.
  case normal
  /// Work that begins something. It waits for what finishes something, and is the first to be refused: a server that
  /// has too much to do completes what it has begun.
  case deferrable
  case refused(HTTPFault)
}

/// What is to become of a request's body, before a byte of it is taken.
package enum BodyAdmission: Sendable {
  case taken(from: BodyOwner)
  case refused(HTTPResponse)
}

/// Why a server refuses a request for load.
package enum Overload: String, Sendable, Hashable, CaseIterable {
  /// It would wait longer than it may.
  case delay
  /// As many as may wait do.
  case full
  /// As many bytes of bodies are held as may be.
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

  /// Seconds for `Retry-After`, which the transport adds where the reply does not have it.
  package var retryAfter: Int? {
    switch self {
    case .overloaded(_, let seconds), .rateLimited(let seconds): seconds
    case .shuttingDown: 1
    default: nil
    }
  }
}
