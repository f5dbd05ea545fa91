import Base
import CBOR
import Compression
import Cryptography

/// The functions and constants of edits (`EditParser`).
enum EditFunctions {
  /// Returns nil if the value is absent.
  typealias Function = @Sendable (EditArguments) throws -> CBORValue?

  static let constants: [String: CBORValue] = [
    "true": true, "false": false, "null": .null, "undefined": .encoded([0xf7]), "NaN": .double(.nan),
    "clockSkew": .integer(Limits.clockSkew), "listBytes": .integer(Int64(Limits.listBytes)),
    "cborItems": .integer(Int64(Limits.cborItems)), "responseLimit": .integer(Int64(Limits.responseBytes)),
  ]

  static let all = bytes.merging(sequences) { $1 }.merging(times) { $1 }

  private static let bytes: [String: Function] = [
    // Flips one bit: of the middle byte, of the last byte, or of the byte at an offset.
    "flip": { .bytes(try $0.bytes(0).flipped) },
    "flipLast": { .bytes(try $0.bytes(0).flippedAtEnd) },
    "flipAt": { .bytes(try $0.bytes(0).flipped(at: $0.integer(1))) },
    // A slice of bytes from an offset, or all bytes with a slice replaced.
    "slice": { .bytes(Array(try $0.bytes(0).dropFirst($0.integer(1)).prefix($0.integer(2)))) },
    "splice": { arguments in
      let (bytes, start) = (try arguments.bytes(0), try arguments.integer(1))
      return .bytes(try bytes.prefix(start) + arguments.bytes(3) + bytes.dropFirst(start + arguments.integer(2)))
    },
    // Adds to a four-byte little-endian number at an offset.
    "addAt": { arguments in
      var (bytes, start) = (try arguments.bytes(0), try arguments.integer(1))
      let sum = (0..<4).reduce(try arguments.integer(2)) { $0 + Int(bytes[start + $1]) << (8 * $1) }
      for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
      return .bytes(bytes)
    },
    // Zero bytes: the given number, or one for each given byte.
    "zeros": { arguments in
      if case .bytes(let bytes)? = arguments(0) { return .bytes(.zeros(bytes.count)) }
      return .bytes(.zeros(try arguments.integer(0)))
    },
    // Converts an encoding, well-formed or not, to an item. Converts an item to its encoding. Embeds an item in tag 24.
    "raw": { .encoded(try $0.bytes(0)) },
    "encode": { .bytes($0(0)?.encoded() ?? []) },
    "embed": { .embedded($0(0) ?? .null) },
    "longForm": { EncodingStyle.longForm.embed($0(0) ?? .null) },
    // A number of spaces.
    "spaces": { .bytes([UInt8](repeating: UInt8(ascii: " "), count: try $0.integer(0))) },
    "json": { .bytes(try JSON(edited: $0(0)).serialized()) },
    // A zlib stream, and the raw DEFLATE stream inside (RFC 7516, 4.1.3).
    "zlib": { .bytes(try Deflation.deflate(try $0.bytes(0))) },
    "deflate": { .bytes(Array(try Deflation.deflate(try $0.bytes(0)).dropFirst(2).dropLast(4))) },
    // The DER of a distribution point with the given addresses. The prefix `dns:` marks a host name.
    "distributionPoint": { arguments in
      let names = try arguments.values.indices.map { index -> CertificateExtension.GeneralName in
        let name = try arguments.text(index)
        return name.hasPrefix("dns:") ? .host(String(name.dropFirst(4))) : .address(name)
      }
      return .bytes(CertificateExtension.crlDistributionPoint(names).value)
    },
    "utf8": { .bytes(Array(try $0.text(0).utf8)) },
    "sha1": { .bytes(HashAlgorithm.sha1.hash(try $0.bytes(0))) },
    "sha256": { .bytes(HashAlgorithm.sha256.hash(try $0.bytes(0))) },
    // Converts an ECDSA signature to DER, and an uncompressed point to a compressed one.
    "der": { .bytes(ecdsaSignatureDER(try $0.bytes(0))) },
    "compress": { arguments in
      let point = try arguments.bytes(0)
      return .bytes([(point.last ?? 0) & 1 == 1 ? 0x03 : 0x02] + point.dropFirst().prefix(point.count / 2))
    },
    // An item with a head one byte longer than necessary.
    "longHead": { arguments in
      let item = arguments(0)?.encoded() ?? []
      return .encoded([item[0] & 0xe0 | 24, item[0] & 0x1f] + item.dropFirst())
    },
    // Embeds a zero repeatedly in tag 24, or an item repeatedly in chunked strings in tag 24.
    "nested": { arguments in (0..<(try arguments.integer(0))).reduce(0) { value, _ in .embedded(value) } },
    "chunks": { arguments in
      let innermost = arguments(1)?.encoded() ?? []
      return .encoded(
        (0..<(try arguments.integer(0))).reduce(innermost) { content, _ in
          [0xd8, 0x18, 0x5f] + CBORValue.bytes(content).encoded() + [0xff]
        })
    },
    // For certificates: DER strings, an extended key usage with any number of purposes, and a critical extension.
    "octetString": { .bytes(DER.octetString(try $0.bytes(0))) },
    "utf8String": { .bytes(DER.utf8String(try $0.text(0))) },
    "printableString": { .bytes(DER.printableString(try $0.text(0))) },
    "purpose": { .bytes(DER.sequence(of: try $0.values.map { DER.objectIdentifier(try String(edited: $0)) })) },
    "critical": { ["critical": true, "value": .bytes(try $0.bytes(0))] },
    "jpeg": { .bytes(MockPortrait.jpeg(padded: try $0.integer(0))) },
    "isOdd": { .bool(try $0.bytes(0).last.map { $0 & 1 == 1 } ?? false) },
  ]

  /// Functions for bytes, texts and arrays.
  private static let sequences: [String: Function] = [
    "firstHalf": { try $0(0).sliced { $0.prefix($0.count / 2) } },
    "first": { arguments in try arguments(1).sliced { try $0.prefix(arguments.integer(0)) } },
    "dropFirst": { arguments in try arguments(1).sliced { try $0.dropFirst(arguments.integer(0)) } },
    "dropLast": { arguments in try arguments(1).sliced { try $0.dropLast(arguments.integer(0)) } },
    "reversed": { arguments in
      switch arguments(0) {
      case .array(let elements)?: .array(elements.reversed())
      case .map(let entries)?: .map(entries.reversed())
      case .text(let text)?: .text(String(text.reversed()))
      default: .bytes(try arguments.bytes(0).reversed())
      }
    },
    "repeat": { arguments in
      let count = try arguments.integer(0)
      if case .array(let elements)? = arguments(1) { return .array((0..<count).flatMap { _ in elements }) }
      let bytes = try arguments.bytes(1)
      return .bytes((0..<count).flatMap { _ in bytes })
    },
    // Converts a number to a floating-point number, to decimal text, or to one byte.
    "float": { .double(Double(try $0.integer(0))) },
    "decimal": { .text(String(try $0.integer(0))) },
    "byte": { .bytes([UInt8(truncatingIfNeeded: try $0.integer(0))]) },
    // The part of a text after the first occurrence of another text.
    "after": { arguments in
      let (mark, text) = (try arguments.text(0), try arguments.text(1))
      return .text(text.firstRange(of: mark).map { String(text[$0.upperBound...]) } ?? text)
    },
    // The values of a map.
    "values": { .array(MapDraft($0(0)).entries.map(\.value)) },
    "lower": { .text(try $0.text(0).lowercased()) },
    "upper": { .text(try $0.text(0).uppercased()) },
    "base64": { .text(Base64.encode(try $0.bytes(0))) },
    "base64url": { .text(Base64.encodeURLSafe(try $0.bytes(0))) },
    "unbase64url": { .bytes(Base64.decodeURLSafe(try $0.text(0)) ?? []) },
  ]

  /// Times are seconds since 1970.
  private static let times: [String: Function] = [
    "time": { .text(try $0.time(0).description) },
    // The time of a `tdate`.
    "seconds": { arguments in
      guard case .tagged(_, .text(let text))? = arguments(0), let time = Timestamp(rfc3339: text) else {
        throw EditError("the value must be a tdate")
      }
      return time.edited ?? .null
    },
    "tdate": { .tdate(try $0.time(0)) },
    "dayOf": { $0(0)?.calendarDay.flatMap { Timestamp(date: $0).edited } },
    // The day, or the same day of another year.
    "date": { .text(try day($0).description) },
    "fullDate": { .fullDate(try day($0)) },
  ]

  private static func day(_ arguments: EditArguments) throws -> FullDate {
    try arguments.time(0).date.shifted(years: arguments.values.count > 1 ? arguments.integer(1) : 0)
  }
}

extension CBORValue {
  /// The sum of two numbers, or the concatenation of two other values.
  func adding(_ other: CBORValue) throws -> CBORValue {
    switch (self, other) {
    case (.bytes(let left), .bytes(let right)): .bytes(left + right)
    case (.text(let left), .text(let right)): .text(left + right)
    case (.array(let left), .array(let right)): .array(left + right)
    case (.map(let left), .map(let right)): .map(left + right)
    default: .integer(try Int64(edited: self) + Int64(edited: other))
    }
  }
}

extension CBORValue? {
  fileprivate func sliced(_ slice: (Range<Int>) throws -> Range<Int>) throws -> CBORValue {
    switch self {
    case .text(let text)?: .text(String(decoding: Array(text.utf8)[try slice(0..<text.utf8.count)], as: UTF8.self))
    case .array(let elements)?: .array(Array(elements[try slice(0..<elements.count)]))
    case .bytes(let bytes)?: .bytes(Array(bytes[try slice(0..<bytes.count)]))
    default: throw EditError("the value must be bytes, text or an array")
    }
  }
}

extension [CBORValue] {
  /// The last part of a COSE_Sign1 or COSE_Mac0.
  var signature: [UInt8] {
    get { if case .bytes(let bytes)? = last { bytes } else { [] } }
    set { if let index = indices.last { self[index] = .bytes(newValue) } }
  }
}

extension [UInt8] {
  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// The same bytes with one bit of the middle byte flipped.
  var flipped: [UInt8] { flipped(at: count / 2) }

  /// The same bytes with the lowest bit of the last byte flipped.
  var flippedAtEnd: [UInt8] { flipped(at: count - 1) }

  /// The same bytes with the lowest bit of a byte flipped.
  func flipped(at index: Int) -> [UInt8] {
    var copy = self
    if indices.contains(index) { copy[index] ^= 0x01 }
    return copy
  }
}

extension MapDraft {
  /// The bytes under a key.
  func bytes(_ key: String) -> [UInt8] { if case .bytes(let bytes)? = self[key] { bytes } else { [] } }
}
