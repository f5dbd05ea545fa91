import Base

/// The application behind the transport. All calls except `respond` run on threads that read sockets, and must not
/// block.
package protocol HTTPHandler: Sendable {
  /// Reads a request's header once, so that later calls need not. The transport keeps the result in the request's
  /// `heading`.
  func heading(of request: HTTPRequest) -> (any Sendable)?

  /// Accepts or refuses a request's body when only the header has arrived.
  func bodyAdmission(of request: HTTPRequest) -> BodyAdmission

  /// Admits or refuses a complete request before it is queued.
  func admission(of request: HTTPRequest) throws(HTTPError) -> Urgency

  func flow(of request: HTTPRequest) -> Flow

  /// Counts the cost of a handled request: the bytes of its reply, and its handling time on `WorkerThreads`.
  func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64)

  /// Handles one request, on `WorkerThreads`. Treats `HEAD` like `GET`. The task is cancelled if the server stops
  /// first.
  func respond(to request: HTTPRequest) async -> HTTPResponse

  /// The reply to a request that does not reach `respond`. Its status is `error.status`. If the header was refused, the
  /// request contains only a path. The request is nil if even the path is unknown.
  func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse
}

extension HTTPHandler {
  package func heading(of request: HTTPRequest) -> (any Sendable)? { nil }
  package func bodyAdmission(of request: HTTPRequest) -> BodyAdmission {
    .taken(from: .address(ClientAddress(request.remoteAddress)))
  }
  package func admission(of request: HTTPRequest) throws(HTTPError) -> Urgency { .normal }
  package func flow(of request: HTTPRequest) -> Flow { Flow(stranger: request.remoteAddress) }
  package func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64) {}
}

/// The treatment of a request under load.
package enum Urgency: Sendable {
  /// A request that is handled at once and never refused because of load, such as a health check.
  case essential
  /// A request that waits in the queue for its turn.
  case normal
  /// Starts a new flow, such as a session. Waits behind requests that continue a flow, and is the first to be refused.
  case deferrable
}

package enum BodyAdmission: Sendable {
  case taken(from: BodyOwner)
  case refused(HTTPResponse)
}

/// The reason why an overloaded server refuses a request.
package enum Overload: String, Sendable, Hashable, CaseIterable {
  case delay
  /// No further request may wait: `maxInFlight` requests are already being handled or waiting.
  case full
  case memory
}

/// The reason why a request was refused before it reached the application.
package enum HTTPError: Error, Equatable, Sendable {
  /// The request is malformed or ambiguous (RFC 9112). The text states the violated rule, never the bytes.
  case malformed(String)
  case bodyTooLarge(limit: Int)
  case targetTooLong(limit: Int)
  /// The request line and the header fields together are larger than `limit` bytes.
  case headersTooLarge(limit: Int)
  /// The server is overloaded; retry after this number of seconds.
  case overloaded(Overload, retryAfter: Int)
  /// This client exceeds its rate; retry after this number of seconds.
  case rateLimited(retryAfter: Int)
  case shuttingDown

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

  /// The seconds for `Retry-After`; nil if a retry is pointless. The transport adds the field if the reply lacks it.
  package var retryAfter: Int? {
    switch self {
    case .overloaded(_, let seconds), .rateLimited(let seconds): seconds
    case .shuttingDown: 1
    default: nil
    }
  }
}

/// A complete request.
package struct HTTPRequest: Sendable {
  /// A token as received, such as `GET`; methods are case-sensitive.
  package var method: String
  /// The percent-encoded path without the query. It starts with `/`, except that it is `*` for `OPTIONS *`.
  package var path: String
  /// The query parameters in order, percent-decoded, with `+` decoded as a space.
  package var query: [(name: String, value: String)]
  package var headers: HTTPHeaders
  package var body: [UInt8]
  /// The numeric address of the TCP connection's peer. The peer may be a proxy.
  package var remoteAddress: String
  package var waited = 0.0
  package var heading: (any Sendable)?
  /// The request's part of the memory for bodies; nil without a body.
  package var hold: BodyHold?

  package init(
    method: String, path: String, query: [(name: String, value: String)] = [], headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [], remoteAddress: String = "127.0.0.1"
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.remoteAddress = remoteAddress
  }
}

/// A complete reply. The transport writes `Content-Length`, `Transfer-Encoding` and `Date`. If the header cannot be
/// sent, or the status is outside 200–599, the transport sends an empty 500.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// True if the connection closes after the reply. The transport decides this.
  private(set) var closes = false

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  func closing(_ closes: Bool) -> HTTPResponse {
    var response = self
    response.closes = closes
    return response
  }
}

/// The header fields of a message in order. Values are valid UTF-8 without leading or trailing white space. The only
/// control character in a value is the tab.
package struct HTTPHeaders: Sendable {
  package let fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

  /// All values of a field, in order; empty when the field is absent.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.sameName($0.name, name) }.map(\.value)
  }

  /// The value of a field that occurs exactly once. Nil if the field is absent *or repeated*: a repeated field is
  /// ambiguous.
  package func single(_ name: String) -> String? {
    let all = values(name)
    return all.count == 1 ? all[0] : nil
  }

  package func contains(_ name: String) -> Bool { fields.contains { Self.sameName($0.name, name) } }

  /// Compares two field names by ASCII case folding (RFC 9110, 5.1).
  package static func sameName(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
