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
