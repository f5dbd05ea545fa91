import Base

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
  /// Seconds that the whole request waited for its turn.
  package var waited = 0.0
  /// What `HTTPHandler.heading` found in the header.
  package var heading: (any Sendable)?
  /// Its part of the memory for bodies; nil if it came without a body.
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

/// A request target taken apart (RFC 9112, 3.2).
struct RequestTarget {
  /// Still percent-encoded.
  let path: String
  let query: [(name: String, value: String)]
  /// The authority of a target in absolute form, which must then equal the `Host` field; nil for other forms.
  let authority: String?

  init(_ bytes: [UInt8], method: String) throws(HTTPFault) {
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
      throw .malformed("byte not allowed in the request target")
    }
    var text = String(decoding: bytes, as: UTF8.self)[...]
    if text == "*" && method == "OPTIONS" {
      (path, query, authority) = ("*", [], nil)
      return
    }
    authority = Self.takeAuthority(&text)
    guard text.first == "/" || (authority != nil && (text.isEmpty || text.first == "?")) else {
      throw .malformed("request target is neither a path nor an http URI")
    }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0].isEmpty ? "/" : String(parts[0])
    guard let members = FormEncoding.members(of: parts.count == 2 ? parts[1] : "") else {
      throw .malformed("query is not percent-encoded UTF-8")
    }
    query = members
  }

  private static func takeAuthority(_ text: inout Substring) -> String? {
    for scheme in ["http://", "https://"] {
      guard text.count > scheme.count, text.prefix(scheme.count).lowercased() == scheme else { continue }
      let rest = text.dropFirst(scheme.count)
      let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
      text = rest[end...]
      return String(rest[..<end])
    }
    return nil
  }
}

/// Names and values in percent-encoding, as queries and forms have them (`application/x-www-form-urlencoded`).
package enum FormEncoding {
  /// The members in order, decoded, with `+` read as a space. Nil if one is not percent-encoded UTF-8 or not
  /// `StreamSafeText`.
  package static func members(of text: Substring) -> [(name: String, value: String)]? {
    var members: [(name: String, value: String)] = []
    for member in text.split(separator: "&") {
      let sides = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(sides[0]), let value = decoded(sides.count == 2 ? sides[1] : "") else { return nil }
      members.append((name, value))
    }
    return members
  }

  private static func decoded(_ text: Substring) -> String? {
    let encoded = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      switch encoded[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < encoded.count, let high = hexValue(encoded[index + 1]),
          let low = hexValue(encoded[index + 2])
        else { return nil }
        bytes.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case let byte: bytes.append(byte)
      }
      index += 1
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    // Combining marks are not ASCII, so ASCII text needs no check.
    return !bytes.contains { $0 >= 0x80 } || StreamSafeText.isSafe(text) ? text : nil
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
