/// A JSON value whose members keep their order. `JSONParser` reads it.
///
/// There is no nil literal: an absent value must not become a null.
public enum JSON: Sendable, Hashable {
  case object([Member])
  case array([JSON])
  case string(String)
  case integer(Int64)
  /// An integer beyond 64 bits, as its decimal digits.
  case largeInteger(String)
  case double(Double)
  case bool(Bool)
  case null
  /// A serialised value, to be written as a part of another value. `JSONText.parsed` reads its members.
  case written(JSONText)

  public struct Member: Sendable, Hashable {
    public let name: String
    public let value: JSON

    public init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// An object with the members that are not nil.
  public static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// A whole number from decimal digits without leading zeros, after an optional `-`.
  public static func digits(_ digits: String) -> JSON { Int64(digits).map { .integer($0) } ?? .largeInteger(digits) }

  // MARK: Access

  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.hasSameBytes(as: name) }?.value
  }

  public var object: [Member]? { if case .object(let members) = self { members } else { nil } }
  public var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
  public var string: String? { if case .string(let text) = self { text } else { nil } }
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var isNull: Bool { if case .null = self { true } else { false } }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member($0.0, $0.1) }) }
}

// MARK: Reading

extension JSON {
  /// The bytes are not one JSON text in UTF-8, an object has duplicate members, a text is not `StreamSafeText`, or
  /// there are too many values.
  public struct SyntaxError: Error, Sendable, CustomStringConvertible {
    /// True if the only fault is that there are too many values.
    public let hasTooManyValues: Bool
    /// The fault's line and column, both counted from 1. The column counts characters, not bytes.
    public private(set) var line = 1
    public private(set) var column = 1

    init(hasTooManyValues: Bool = false) { self.hasTooManyValues = hasTooManyValues }

    /// The same error, positioned after these bytes.
    init(_ error: SyntaxError, after read: some Collection<UInt8>) {
      hasTooManyValues = error.hasTooManyValues
      for byte in read {
        if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) } else if byte & 0xc0 != 0x80 { column += 1 }
      }
    }

    public var description: String { "is not valid JSON at line \(line), column \(column)" }
  }

  /// - Parameter values: the maximum number of values, including nested values. Set it above the default only for text
  ///   that this program or its operator has written.
  public init(parsing bytes: [UInt8], values: Int = Limits.jsonValues) throws(SyntaxError) {
    self = try JSONParser.parse(bytes, values: values)
  }

  /// A generous estimate of the tree's memory in bytes: arrays grow by doubling, and long texts are allocated
  /// separately.
  public var memoryBytes: Int {
    switch self {
    case .object(let members):
      members.reduce(0) { $0 + 2 * MemoryLayout<Member>.stride + Self.bytes(of: $1.name) + $1.value.memoryBytes }
    case .array(let elements):
      elements.reduce(0) { $0 + 2 * MemoryLayout<JSON>.stride + $1.memoryBytes }
    case .string(let text), .largeInteger(let text): Self.bytes(of: text)
    case .written(let text): 32 + text.bytes.count
    case .integer, .double, .bool, .null: 0
    }
  }

  private static func bytes(of text: String) -> Int { text.utf8.count < 16 ? 0 : 32 + text.utf8.count }
}

// MARK: Writing

extension JSON {
  public func serialized(pretty: Bool = false) -> [UInt8] {
    var output: [UInt8] = []
    write(to: &output, indent: pretty ? 0 : nil)
    return output
  }

  public func text(pretty: Bool = false) -> String { String(decoding: serialized(pretty: pretty), as: UTF8.self) }

  private func write(to output: inout [UInt8], indent: Int?) {
    switch self {
    case .object(let members):
      JSON.writeList(members, "{", "}", to: &output, indent: indent) { member, output, indent in
        JSON.write(member.name, to: &output)
        output.append(UInt8(ascii: ":"))
        if indent != nil { output.append(UInt8(ascii: " ")) }
        member.value.write(to: &output, indent: indent)
      }
    case .array(let elements):
      JSON.writeList(elements, "[", "]", to: &output, indent: indent) { element, output, indent in
        element.write(to: &output, indent: indent)
      }
    case .string(let text): JSON.write(text, to: &output)
    case .integer(let number): output += String(number).utf8
    case .largeInteger(let digits): output += digits.utf8
    // JSON has no infinity and no NaN.
    case .double(let number): output += (number.isFinite ? "\(number)" : "null").utf8
    case .bool(let value): output += (value ? "true" : "false").utf8
    case .null: output += "null".utf8
    case .written(let text): output.append(contentsOf: text.bytes)
    }
  }

  private static func writeList<Element>(
    _ elements: [Element], _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, to output: inout [UInt8],
    indent: Int?, _ writeElement: (Element, inout [UInt8], Int?) -> Void
  ) {
    output.append(UInt8(ascii: opening))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      newLine(to: &output, indent: indent.map { $0 + 1 })
      writeElement(element, &output, indent.map { $0 + 1 })
    }
    if !elements.isEmpty { newLine(to: &output, indent: indent) }
    output.append(UInt8(ascii: closing))
  }

  private static func newLine(to output: inout [UInt8], indent: Int?) {
    guard let indent else { return }
    output.append(UInt8(ascii: "\n"))
    output += [UInt8](repeating: UInt8(ascii: " "), count: indent * 2)
  }

  /// Runs without escapes are copied whole: a portrait in base64 is one run.
  private static func write(_ text: String, to output: inout [UInt8]) {
    var text = text
    output.append(UInt8(ascii: "\""))
    text.withUTF8 { bytes in
      var start = 0
      while true {
        let end = JSONStringBytes.endOfRun(in: bytes, from: start).index
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<end]))
        guard end < bytes.count else { return }
        writeEscape(of: bytes[end], to: &output)
        start = end + 1
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func writeEscape(of byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): output += "\\n".utf8
    default: output += "\\u00\(Hex.encode([byte]))".utf8
    }
  }
}

/// One JSON value, serialized by this program. It can be stored, encrypted or sent without parsing it again.
public struct JSONText: Sendable, Hashable {
  public let bytes: [UInt8]

  public init(_ json: JSON) { bytes = json.serialized() }

  /// - Parameter bytes: one value that this program has written.
  public init(written bytes: [UInt8]) { self.bytes = bytes }

  /// The value, without a limit on nested values.
  public func parsed() throws(JSON.SyntaxError) -> JSON { try JSON(parsing: bytes, values: .max) }
}

/// The bytes of a JSON string (RFC 8259, 7).
enum JSONStringBytes {
  /// Finds the first control character, quotation mark or backslash from `start`, eight bytes at a time.
  ///
  /// - Returns: the character's index, or the number of bytes if none is found; and whether all bytes before it are
  ///   ASCII.
  static func endOfRun(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> (index: Int, isASCII: Bool) {
    let raw = UnsafeRawBufferPointer(bytes)
    var (index, seen) = (start, UInt64(0))
    while index + 8 <= raw.count {
      let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // The high bit is set in each byte below the limit. It may also be set in bytes of higher order than such a byte.
      let found = below(0x20, word) | below(1, word ^ each(0x22)) | below(1, word ^ each(0x5c))
      guard found == 0 else { break }
      seen |= word
      index += 8
    }
    while index < raw.count, raw[index] >= 0x20, raw[index] != 0x22, raw[index] != 0x5c {
      seen |= UInt64(raw[index])
      index += 1
    }
    return (index, seen & each(0x80) == 0)
  }

  private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

  private static func below(_ limit: UInt64, _ word: UInt64) -> UInt64 { (word &- each(limit)) & ~word & each(0x80) }
}
