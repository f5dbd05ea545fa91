/// One whole request: nothing of it is still on the wire when a handler sees it.
package struct HTTPRequest: Sendable {
  /// A token as received, such as `GET`; methods are case-sensitive.
  package var method: String
  /// The path without the query, still percent-encoded, starting with `/`; `*` for `OPTIONS *`.
  package var path: String
  /// The query's members in order, percent-decoded, with `+` read as a space.
  package var query: [(name: String, value: String)]
  package var headers: HTTPHeaders
  package var body: [UInt8]
  /// The peer of the TCP connection in numeric form; with a proxy in front that is the proxy.
  package var remoteAddress: String
  /// Seconds that it waited, whole, for its turn.
  package var waited = 0.0
  /// What the handler found out from the header.
  package var heading: (any Sendable)?
  /// What it holds of the memory for bodies; nil for one that came without a body.
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
