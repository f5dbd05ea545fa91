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

/// One whole reply.
///
/// `Content-Length`, `Transfer-Encoding` and `Date` belong to the transport, which drops them from `headers`. A header
/// that cannot be sent (a name that is no token, a value with a line break, an empty value) or a status outside 200–599
/// is a fault of the handler: the client gets an empty 500 rather than a reply with a part missing.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The header fields of a message, in the order received, looked up without regard to case.
///
/// Values are valid UTF-8 without surrounding white space and without control characters other than tab; the transport
/// refuses a request with anything else before a handler sees it.
package struct HTTPHeaders: Sendable {
  /// Every field as received, repeated names included.
  package let fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)] = []) {
    self.fields = fields
  }

  /// All values of a field, in order; empty when the field is absent.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.sameName($0.name, name) }.map(\.value)
  }

  /// The value of a field that occurs exactly once; nil when it is absent *or repeated*.
  ///
  /// A repeated `Authorization` or `Idempotency-Key` has no single meaning, so that picking one would be a guess.
  package func single(_ name: String) -> String? {
    let all = values(name)
    return all.count == 1 ? all[0] : nil
  }

  package func contains(_ name: String) -> Bool {
    fields.contains { Self.sameName($0.name, name) }
  }

  /// Compares two field names by ASCII case folding (RFC 9110, 5.1).
  package static func sameName(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
