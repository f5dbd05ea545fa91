import FoundationEssentials

/// RFC 4648 base64. Decoding is strict: one alphabet a text, no white space, padding right or (base64url) absent, and
/// no stray bits in the last character, so that one byte string has exactly one accepted text in each form.
public enum Base64 {
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
  }

  /// Base64url without padding (RFC 4648, 5).
  public static func encodeURLSafe(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for character in encode(bytes).utf8 {
      switch character {
      case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
      case UInt8(ascii: "="): break
      default: text.append(character)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Base64 with padding, or nil.
  public static func decode(_ text: String) -> [UInt8]? {
    // Foundation also takes surplus and misplaced padding and stray bits: only its own spelling of the bytes counts.
    guard let data = Data(base64Encoded: text), data.base64EncodedString().utf8.elementsEqual(text.utf8) else {
      return nil
    }
    return [UInt8](data)
  }

  /// Base64url without padding, or nil.
  public static func decodeURLSafe(_ text: String) -> [UInt8]? {
    var standard: [UInt8] = []
    standard.reserveCapacity(text.utf8.count + 3)
    for character in text.utf8 {
      switch character {
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: standard.append(character)
      }
    }
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    return decode(String(decoding: standard, as: UTF8.self))
  }

  /// Either alphabet: what has `-` or `_`, or lacks its padding, is base64url.
  public static func decodeEither(_ text: String) -> [UInt8]? {
    decode(text) ?? decodeURLSafe(text)
  }
}
