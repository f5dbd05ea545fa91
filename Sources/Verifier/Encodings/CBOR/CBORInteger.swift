import Base

extension CBORItem {
  /// An integer of major type 0 or 1, which is from −2^64 to 2^64 − 1.
  package var wholeNumber: Int128? {
    switch kind {
    case .unsigned: Int128(node.value)
    case .negative: -1 - Int128(node.value)
    default: nil
    }
  }

  /// The digits of an integer of any size (`Bignum`); nil for any other item.
  package var digits: String? {
    if let wholeNumber { return "\(wholeNumber)" }
    return tag.flatMap { tag in content(ofTag: tag)?.bytes.flatMap { Bignum.digits(tag: tag, content: $0) } }
  }
}

/// An integer as tag 2 or 3 around its bytes (RFC 8949, 3.4.3).
package enum Bignum {
  /// In decimal; beyond `Limits.decimalBytes` bytes in hexadecimal after `0x`. `-` stands first where it is negative. Nil
  /// for another tag.
  package static func digits(tag: UInt64, content: some Sequence<UInt8>) -> String? {
    guard tag == 2 || tag == 3 else { return nil }
    var magnitude = [0] + Array(content)
    // Tag 3 stands for −1−n: its magnitude is one more.
    var index = magnitude.endIndex
    while tag == 3, index > 0 {
      index -= 1
      magnitude[index] &+= 1
      if magnitude[index] != 0 { break }
    }
    let bytes = magnitude.drop { $0 == 0 }
    return (tag == 3 ? "-" : "") + (bytes.count > Limits.decimalBytes ? "0x" + Hex.encode(bytes) : decimal(bytes))
  }

  /// Long division by 10^19 finds the digits in groups, the last first.
  private static func decimal(_ magnitude: ArraySlice<UInt8>) -> String {
    let base: UInt64 = 10_000_000_000_000_000_000
    let padded = [UInt8](repeating: 0, count: (8 - magnitude.count % 8) % 8) + magnitude
    var words = stride(from: 0, to: padded.count, by: 8).map { start in
      padded[start..<start + 8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }[...]
    var text = ""
    while true {
      var remainder: UInt64 = 0
      for index in words.indices { (words[index], remainder) = base.dividingFullWidth((remainder, words[index])) }
      words = words.drop { $0 == 0 }
      let group = "\(remainder)"
      if words.isEmpty { return group + text }
      text = String(repeating: "0", count: 19 - group.utf8.count) + group + text
    }
  }
}
