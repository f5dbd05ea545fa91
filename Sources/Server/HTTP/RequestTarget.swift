import Base

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
  /// In order, decoded, with `+` read as a space; nil where something is no percent-encoded UTF-8, or no
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
    // Marks are no ASCII.
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
