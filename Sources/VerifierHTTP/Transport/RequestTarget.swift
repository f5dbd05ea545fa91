/// A request target taken apart (RFC 9112, 3.2).
struct RequestTarget {
  /// Still percent-encoded.
  let path: String
  let query: [(name: String, value: String)]
  /// Of the absolute form, which must then be the host that the `Host` field names.
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
    query = parts.count == 2 ? try Self.members(of: parts[1]) : []
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

  private static func members(of query: Substring) throws(HTTPFault) -> [(name: String, value: String)] {
    var members: [(name: String, value: String)] = []
    for member in query.split(separator: "&") {
      let sides = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(sides[0]), let value = decoded(sides.count == 2 ? sides[1] : "") else {
        throw .malformed("query is not percent-encoded UTF-8")
      }
      members.append((name, value))
    }
    return members
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
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
