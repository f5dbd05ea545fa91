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

  /// Answers one request. Runs on the cooperative pool, never on a thread that reads sockets.
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
  package func bodyAdmission(of request: HTTPRequest) -> BodyAdmission { BodyAdmission(of: request) }
  package func admission(of request: HTTPRequest) -> Admission { .normal }
  package func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)] { [] }
}
