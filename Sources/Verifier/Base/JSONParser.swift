/// Reads one JSON text (RFC 8259), strictly and in linear time.
///
/// FoundationEssentials' decoder takes seconds for a megabyte of small numbers. It also reads UTF-16 and a byte order
/// mark. It accepts duplicate members, which different readers interpret differently.
struct JSONParser {
  /// Maximum depth of nested arrays and objects.
  static let depth = 128

  /// Maximum number of members for a linear search of an object's names.
  private static let fewMembers = 12

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// The number of values that may still be read.
  private var values: Int

  static func parse(_ bytes: [UInt8], values: Int) throws(JSON.SyntaxError) -> JSON {
    try bytes.withUnsafeBufferPointer { buffer throws(JSON.SyntaxError) in
      var parser = JSONParser(bytes: buffer, values: values)
      do throws(JSON.SyntaxError) { return try parser.text() } catch {
        throw JSON.SyntaxError(error, after: buffer[..<parser.position])
      }
    }
  }

  private mutating func text() throws(JSON.SyntaxError) -> JSON {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw JSON.SyntaxError() }
    return value
  }

  private mutating func value(depth: Int) throws(JSON.SyntaxError) -> JSON {
    guard depth < Self.depth else { throw JSON.SyntaxError() }
    guard values > 0 else { throw JSON.SyntaxError(hasTooManyValues: true) }
    values -= 1
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func object(depth: Int) throws(JSON.SyntaxError) -> JSON {
    var members: [JSON.Member] = []
    // The names of an object that has too many members for a linear search.
    var names: Set<UTF8Key> = []
    position += 1
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object([]) }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw JSON.SyntaxError() }
      let name = try string()
      skipSpace()
      guard isNew(name, among: members, &names), take(UInt8(ascii: ":")) else { throw JSON.SyntaxError() }
      members.append(JSON.Member(name, try value(depth: depth + 1)))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw JSON.SyntaxError() }
    return .object(members)
  }

  /// Names are compared by bytes, as in look-ups of members. Comparing normal forms is many times slower.
  private func isNew(_ name: String, among members: [JSON.Member], _ names: inout Set<UTF8Key>) -> Bool {
    guard members.count >= Self.fewMembers else { return !members.contains { $0.name.hasSameBytes(as: name) } }
    if names.isEmpty { names = Set(members.map { UTF8Key($0.name) }) }
    return names.insert(UTF8Key(name)).inserted
  }

  private mutating func array(depth: Int) throws(JSON.SyntaxError) -> JSON {
    var elements: [JSON] = []
    position += 1
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array([]) }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw JSON.SyntaxError() }
    return .array(elements)
  }

  private mutating func word(_ text: StaticString, _ value: JSON) throws(JSON.SyntaxError) -> JSON {
    guard bytes.count - position >= text.utf8CodeUnitCount else { throw JSON.SyntaxError() }
    for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] {
      throw JSON.SyntaxError()
    }
    position += text.utf8CodeUnitCount
    return value
  }

  // MARK: Strings

  private mutating func string() throws(JSON.SyntaxError) -> String {
    let start = position + 1
    let run = JSONStringBytes.endOfRun(in: bytes, from: start)
    position = run.index
    switch peek {
    case UInt8(ascii: "\""):
      position += 1
      return try text(UnsafeBufferPointer(rebasing: bytes[start..<run.index]).span, isASCII: run.isASCII)
    case UInt8(ascii: "\\"): return try stringWithEscapes(from: start)
    default: throw JSON.SyntaxError()
    }
  }

  /// Reads a string with escapes into an unescaped copy. Such strings are rare.
  private mutating func stringWithEscapes(from start: Int) throws(JSON.SyntaxError) -> String {
    var output = Array(bytes[start..<position])
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(output.span, isASCII: false)
      case UInt8(ascii: "\\"): output += try escape()
      case 0..<0x20: throw JSON.SyntaxError()
      default: output.append(byte)
      }
    }
    throw JSON.SyntaxError()
  }

  private mutating func escape() throws(JSON.SyntaxError) -> [UInt8] {
    guard let byte = peek else { throw JSON.SyntaxError() }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0c]
    case UInt8(ascii: "n"): return [0x0a]
    case UInt8(ascii: "r"): return [0x0d]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw JSON.SyntaxError()
    }
  }

  /// Reads an escaped scalar or surrogate pair. An unpaired surrogate is rejected.
  private mutating func unicodeEscape() throws(JSON.SyntaxError) -> [UInt8] {
    var code = try fourDigits()
    if (0xd800..<0xdc00).contains(code) {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw JSON.SyntaxError() }
      let low = try fourDigits()
      guard (0xdc00..<0xe000).contains(low) else { throw JSON.SyntaxError() }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw JSON.SyntaxError() }
    return Array(String(scalar).utf8)
  }

  private mutating func fourDigits() throws(JSON.SyntaxError) -> UInt32 {
    guard bytes.count - position >= 4 else { throw JSON.SyntaxError() }
    var code: UInt32 = 0
    for byte in bytes[position..<(position + 4)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw JSON.SyntaxError() }
      code = code << 4 | UInt32(digit)
    }
    position += 4
    return code
  }

  /// - Parameter isASCII: true only if the text is known to be ASCII.
  private func text(_ bytes: Span<UInt8>, isASCII: Bool) throws(JSON.SyntaxError) -> String {
    guard let utf8 = try? UTF8Span(validating: bytes) else { throw JSON.SyntaxError() }
    let text = String(copying: utf8)
    guard isASCII || StreamSafeText.isSafe(text) else { throw JSON.SyntaxError() }
    return text
  }

  // MARK: Numbers

  /// Reads a number: an integer with all its digits, otherwise a finite double. A double that equals an integer becomes
  /// that integer.
  private mutating func number() throws(JSON.SyntaxError) -> JSON {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    var isInteger = true
    if take(UInt8(ascii: ".")) {
      isInteger = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isInteger = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger { return .digits(text) }
    guard let number = Double(text), number.isFinite else { throw JSON.SyntaxError() }
    // Negative zero stays a double, to keep its sign.
    let isWhole = abs(number) < 0x1p53 && number == number.rounded() && (number != 0 || number.sign == .plus)
    return isWhole ? .integer(Int64(number)) : .double(number)
  }

  private mutating func digits() throws(JSON.SyntaxError) {
    let start = position
    while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    guard position > start else { throw JSON.SyntaxError() }
  }

  // MARK: Bytes

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }
}
