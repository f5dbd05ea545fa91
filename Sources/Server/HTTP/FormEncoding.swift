import Base

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
