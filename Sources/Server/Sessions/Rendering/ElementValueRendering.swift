import Base
import Mdoc

/// Element values as JSON: text as strings, full dates as `YYYY-MM-DD`, date-times as RFC 3339, bytes as
/// `{"media_type"?, "base64"}`, numbers, booleans, maps and arrays as themselves (HTTP API, Sessions).
enum ElementValueRendering {
  static func json(_ value: ElementValue) -> JSON {
    switch value {
    case .text(let text): .string(text)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .bool(let bool): .bool(bool)
    case .null: .null
    case .fullDate(let date): .string(date.description)
    case .dateTime(let text): .string(text)
    case .bytes(let bytes):
      .members(["media_type": mediaType(of: bytes).map { .string($0) }, "base64": .string(Base64.encode(bytes))])
    case .array(let elements): .array(elements.map(json))
    case .map(let entries): map(entries)
    case .tagged(_, let content): json(content)
    }
  }

  /// An object, with keys that are no text as their text. Two keys of one text, which CBOR allows (1 and "1"), make it
  /// an array of pairs instead: no JSON reader would see both.
  private static func map(_ entries: [ElementValue.Entry]) -> JSON {
    let members = entries.map { JSON.Member(name($0.key), json($0.value)) }
    guard Set(members.map(\.name)).count == members.count else {
      return .array(entries.map { [json($0.key), json($0.value)] })
    }
    return .object(members)
  }

  private static func name(_ key: ElementValue) -> String {
    let key = json(key)
    return key.string ?? key.text()
  }

  /// By the first bytes: ISO/IEC 18013-5, 7.2.2 allows JPEG and JPEG 2000 portraits; PNG is common besides.
  static func mediaType(of bytes: [UInt8]) -> String? {
    let signatures: [([UInt8], String)] = [
      ([0xff, 0xd8, 0xff], "image/jpeg"),
      ([0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a], "image/jp2"),
      // A bare JPEG 2000 codestream.
      ([0xff, 0x4f, 0xff, 0x51], "image/j2c"),
      ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"),
    ]
    return signatures.first { bytes.starts(with: $0.0) }?.1
  }
}
