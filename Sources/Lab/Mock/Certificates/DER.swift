import Base

/// DER (X.690) to be written: what certificates need, and nothing that stops a wrong one from being made.
enum DER {
  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }

  static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
  static func sequence(of parts: [[UInt8]]) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
  static func set(_ part: [UInt8]) -> [UInt8] { element(0x31, part) }
  static func octetString(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
  static func utf8String(_ text: String) -> [UInt8] { element(0x0c, Array(text.utf8)) }
  static func printableString(_ text: String) -> [UInt8] { element(0x13, Array(text.utf8)) }
  static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xff : 0x00]) }
  static let null: [UInt8] = [0x05, 0x00]

  /// The content octets of an INTEGER as they are: two's complement, so negative numbers can be written.
  static func integer(_ content: [UInt8]) -> [UInt8] { element(0x02, content) }

  /// A non-negative INTEGER from big-endian bytes of any length.
  static func unsignedInteger(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var content = Array(bytes.drop { $0 == 0 })
    if content.isEmpty || content[0] >= 0x80 { content.insert(0, at: 0) }
    return integer(content)
  }

  static func bitString(_ bytes: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] { element(0x03, [unusedBits] + bytes) }

  /// A constructed context-specific tag.
  static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0xa0 | number, content) }

  /// A primitive context-specific tag.
  static func implicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0x80 | number, content) }

  static func objectIdentifier(_ dotted: String) -> [UInt8] {
    let arcs = dotted.split(separator: ".").compactMap { UInt64($0) }
    precondition(arcs.count >= 2, "an object identifier has two arcs at least")
    var content = base128(arcs[0] * 40 + arcs[1])
    for arc in arcs[2...] { content += base128(arc) }
    return element(0x06, content)
  }

  /// UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5).
  static func time(_ instant: Timestamp) -> [UInt8] {
    let digits = instant.description.utf8.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let isGeneralized = !(1950...2049).contains(instant.date.year)
    let text = (isGeneralized ? digits : Array(digits.dropFirst(2))) + [UInt8(ascii: "Z")]
    return element(isGeneralized ? 0x18 : 0x17, text)
  }

  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(rest & 0xff), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }

  private static func base128(_ value: UInt64) -> [UInt8] {
    var bytes = [UInt8(value & 0x7f)]
    var rest = value >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }
}
