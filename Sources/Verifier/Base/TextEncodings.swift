import FoundationEssentials

/// Lower-case hexadecimal text. Reading skips white space, since people paste text.
public enum Hex {
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    // Generic collection code is not specialised in other modules, and then allocates at each step.
    bytes.withContiguousStorageIfAvailable(encodeBuffer) ?? Array(bytes).withUnsafeBufferPointer(encodeBuffer)
  }

  private static func encodeBuffer(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      var index = 0
      for byte in bytes {
        text[index] = digit(byte >> 4)
        text[index + 1] = digit(byte & 15)
        index += 2
      }
      return index
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The bytes; nil if the text has an odd number of digits, or a character other than digits and white space.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text.utf8 {
      guard let digit = value(of: character) else {
        if [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t")].contains(character) {
          continue
        }
        return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }

  fileprivate static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Base64 (RFC 4648). Decoding is strict: one alphabet, no white space, correct padding or (base64url) none, no stray
/// bits in the last character. Each byte string thus has exactly one accepted text in each form.
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

  /// Decodes base64 with padding; nil for any other text.
  public static func decode(_ text: String) -> [UInt8]? {
    withASCII(text) { characters in
      guard characters.count % 4 == 0 else { return nil }
      let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
      return decode(characters.dropLast(padding), padding: padding, values: standardValues)
    }
  }

  /// Decodes base64url without padding; nil for any other text.
  public static func decodeURLSafe(_ text: String) -> [UInt8]? {
    withASCII(text) { decode($0[...], padding: (4 - $0.count % 4) % 4, values: urlSafeValues) }
  }

  /// Decodes base64 or, failing that, base64url; nil for any other text.
  public static func decodeEither(_ text: String) -> [UInt8]? {
    decode(text) ?? decodeURLSafe(text)
  }

  private static func withASCII(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> [UInt8]?) -> [UInt8]? {
    var text = text
    return text.withUTF8(body)
  }

  /// Foundation's decoder also accepts surplus and misplaced padding and stray bits, and is several times slower.
  private static func decode(_ characters: Slice<UnsafeBufferPointer<UInt8>>, padding: Int, values: [UInt8])
    -> [UInt8]?
  {
    guard padding < 3 else { return nil }
    let input = UnsafeBufferPointer(rebasing: characters)
    let length = input.count / 4 * 3 + (padding == 0 ? 0 : 3 - padding)
    var isValid = true
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { output, count in
      var seen: UInt8 = 0
      var group: UInt32 = 0
      for index in 0..<input.count {
        let value = values[Int(input[index])]
        seen |= value
        group = group << 6 | UInt32(value)
        guard index % 4 == 3 else { continue }
        output[count] = UInt8(truncatingIfNeeded: group >> 16)
        output[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
        output[count + 2] = UInt8(truncatingIfNeeded: group)
        count += 3
      }
      // Two characters contain one byte and four zero bits. Three characters contain two bytes and two zero bits.
      if padding == 2 {
        output[count] = UInt8(truncatingIfNeeded: group >> 4)
      } else if padding == 1 {
        output[count] = UInt8(truncatingIfNeeded: group >> 10)
        output[count + 1] = UInt8(truncatingIfNeeded: group >> 2)
      }
      let strayBits = group & (padding == 2 ? 0x0f : padding == 1 ? 0x03 : 0)
      count = length
      isValid = seen < 64 && strayBits == 0
    }
    return isValid ? bytes : nil
  }

  private static let standardValues = values(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  private static let urlSafeValues = values(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

  /// The value of every character; 255 for those outside the alphabet.
  private static func values(of alphabet: String) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }
}

/// Reads and writes the percent-encoded names and values of queries and forms (`application/x-www-form-urlencoded`).
package enum FormEncoding {
  /// The decoded members, in order. Nil if a member is not percent-encoded UTF-8 or not `StreamSafeText`.
  package static func members(of text: Substring) -> [(name: String, value: String)]? {
    var members: [(name: String, value: String)] = []
    for member in text.split(separator: "&") {
      let sides = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(sides[0]), let value = decoded(sides.count == 2 ? sides[1] : "") else { return nil }
      members.append((name, value))
    }
    return members
  }

  /// The members, percent-encoded as a query string or form body.
  package static func text(of members: [(name: String, value: String)]) -> String {
    members.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
  }

  /// Percent-encodes all but the unreserved characters (RFC 3986, 2.1).
  package static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      byte.isAlphanumeric || "-._~".utf8.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }

  private static func decoded(_ text: Substring) -> String? {
    let encoded = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      switch encoded[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < encoded.count, let high = Hex.value(of: encoded[index + 1]),
          let low = Hex.value(of: encoded[index + 2])
        else { return nil }
        bytes.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case let byte: bytes.append(byte)
      }
      index += 1
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    // ASCII text has no combining marks, so it needs no check.
    return !bytes.contains { $0 >= 0x80 } || StreamSafeText.isSafe(text) ? text : nil
  }
}

extension UInt8 {
  /// True for an ASCII letter or digit.
  package var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
