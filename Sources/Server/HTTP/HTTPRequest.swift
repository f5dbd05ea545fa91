/// One whole request: nothing of it is still on the wire when a handler sees it.
public struct HTTPRequest: Sendable {
  /// A token as received, such as `GET`; methods are case-sensitive.
  public var method: String
  /// The path without the query, still percent-encoded, starting with `/`; `*` for `OPTIONS *`.
  public var path: String
  /// The query's members in order, percent-decoded, with `+` read as a space.
  public var query: [(name: String, value: String)]
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// The peer of the TCP connection in numeric form; with a proxy in front that is the proxy.
  public var remoteAddress: String
  /// Seconds that it waited, whole, for its turn.
  public var waited = 0.0
  /// What the handler found out from the header.
  var heading: (any Sendable)?
  /// What it holds of the memory for bodies; nil for one that came without a body.
  var hold: BodyHold?

  public init(
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
