import Primitives

/// Names and values in percent-encoding, as queries and forms have them (`application/x-www-form-urlencoded`).
enum FormEncoding {
  /// In order, decoded, with `+` read as a space; nil where something is no percent-encoded UTF-8, or no
  /// `StreamSafeText`.
  static func members(of text: Substring) -> [(name: String, value: String)]? {
    var members: [(name: String, value: String)] = []
    for member in text.split(separator: "&") {
      let sides = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(sides[0]), let value = decoded(sides.count == 2 ? sides[1] : "") else { return nil }
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
    return String(validating: bytes, as: UTF8.self).flatMap { StreamSafeText.isSafe($0) ? $0 : nil }
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
