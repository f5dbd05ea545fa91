import Base
import CBOR
import FoundationEssentials

/// The JSON form of a document's data:
/// ```json
/// { "doc_type": "org.iso.18013.5.1.mDL", "age_over": [18, 21],
///   "namespaces": { "org.iso.18013.5.1": {
///     "family_name": "Morgan", "sex": 2, "birth_date": {"full_date": "1990-04-12"},
///     "issue_date": {"tdate": "2024-02-01T00:00:00Z"}, "portrait": {"jpeg_portrait": 35000}, "signature": {"base64": "…"} } } }
/// ```
/// Text, numbers, booleans, arrays and null stand for themselves; an integer may have up to 38 digits. An object is a
/// map, unless its only member is `full_date`, `tdate`, `base64`, `hex` or `jpeg_portrait`. The last is the mock portrait
/// with so many bytes, or unchanged for 0. Elements and map entries are sorted by their names, since JSON objects have no
/// order.
extension MockDocumentData {
  /// One document.
  package init(json: [UInt8]) throws {
    self = try Self.decode(JSONDocument.self, from: json).data
  }

  /// The data in this form, to be edited and read again.
  package var json: JSON {
    [
      "doc_type": .string(docType), "age_over": .array(ageThresholds.map { .integer(Int64($0)) }),
      "namespaces": .object(
        namespaces.map { space in
          JSON.Member(space.name, .object(space.elements.map { JSON.Member($0.identifier, Self.json($0.value)) }))
        }),
    ]
  }

  private static func json(_ value: CBORValue) -> JSON {
    switch value {
    case .unsigned(let number): .digits("\(number)")
    case .negative(let number): .digits("\(-1 - Int128(number))")
    case .bytes(MockPortrait.jpeg): ["jpeg_portrait": 0]
    case .bytes(let bytes): ["base64": .string(Base64.encode(bytes))]
    case .text(let text): .string(text)
    case .array(let elements): .array(elements.map(json))
    case .map(let entries):
      .object(
        entries.compactMap { key, value in
          guard case .text(let name) = key else { return nil }
          return JSON.Member(name, json(value))
        })
    case .tagged(1004, .text(let text)): ["full_date": .string(text)]
    case .tagged(0, .text(let text)): ["tdate": .string(text)]
    case .tagged(2, .bytes(let bytes)): .digits("\(magnitude(bytes))")
    case .tagged(3, .bytes(let bytes)): .digits("\(-1 - magnitude(bytes))")
    case .tagged(_, let content): json(content)
    case .bool(let flag): .bool(flag)
    case .double(let number): .double(number)
    case .null, .encoded: .null
    }
  }

  /// A bignum that was read here has at most 16 bytes.
  private static func magnitude(_ bytes: [UInt8]) -> Int128 { bytes.reduce(0) { $0 << 8 | Int128($1) } }

  /// Reads an array of documents, or one document.
  package static func list(json: [UInt8]) throws -> [MockDocumentData] {
    let isArray = json.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "[")
    return isArray ? try decode([JSONDocument].self, from: json).map(\.data) : [try MockDocumentData(json: json)]
  }

  private static func decode<T: Decodable>(_ type: T.Type, from json: [UInt8]) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(json))
    } catch let error as DecodingError {
      throw MockError.invalidData(path: error.path, reason: error.reason)
    }
  }
}

private struct JSONDocument: Decodable {
  let data: MockDocumentData

  private enum Key: String, CodingKey { case docType = "doc_type", namespaces, ageThresholds = "age_over" }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let namespaces = try container.decode([String: [String: JSONElement]].self, forKey: .namespaces)
    let thresholds = try container.decodeIfPresent([Int].self, forKey: .ageThresholds) ?? []
    guard thresholds.allSatisfy((0...99).contains) else {
      throw DecodingError.dataCorruptedError(
        forKey: .ageThresholds, in: container, debugDescription: "ages go from 0 to 99")
    }
    data = MockDocumentData(
      docType: try container.decode(String.self, forKey: .docType),
      namespaces: namespaces.sorted { $0.key < $1.key }.map { name, elements in
        .init(name, elements.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) })
      },
      ageThresholds: thresholds)
  }
}

private struct JSONElement: Decodable {
  let value: CBORValue

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
    } else if let flag = try? single.decode(Bool.self) {
      value = .bool(flag)
    } else if let number = try? single.decode(Int128.self) {
      value = Self.integer(number)
    } else if let number = try? single.decode(Double.self) {
      value = .double(number)
    } else if let text = try? single.decode(String.self) {
      value = .text(text)
    } else if let elements = try? decoder.unkeyedContainer() {
      value = .array(try Self.elements(elements))
    } else {
      value = try Self.object(try single.decode([String: JSONElement].self), in: single)
    }
  }

  /// Major type 0 or 1 if the value fits, else a bignum (RFC 8949, 3.4.3).
  private static func integer(_ number: Int128) -> CBORValue {
    let argument = number < 0 ? -1 - number : number
    if let short = UInt64(exactly: argument) { return number < 0 ? .negative(short) : .unsigned(short) }
    let bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: argument >> Int128($0)) }
    return .tagged(number < 0 ? 3 : 2, .bytes(Array(bytes.drop { $0 == 0 })))
  }

  private static func elements(_ container: any UnkeyedDecodingContainer) throws -> [CBORValue] {
    var container = container
    var elements: [CBORValue] = []
    while !container.isAtEnd { elements.append(try container.decode(JSONElement.self).value) }
    return elements
  }

  /// A typed value if the object's only member names a type, else a map.
  private static func object(
    _ members: [String: JSONElement], in container: any SingleValueDecodingContainer
  ) throws -> CBORValue {
    guard members.count == 1, let member = members.first else { return map(members) }
    let typed: CBORValue?
    switch (member.key, member.value.value) {
    case ("full_date", .text(let text)): typed = FullDate(text).map(CBORValue.fullDate)
    case ("tdate", .text(let text)): typed = Timestamp(rfc3339: text).map { _ in .tagged(0, .text(text)) }
    case ("base64", .text(let text)): typed = Base64.decodeEither(text).map(CBORValue.bytes)
    case ("hex", .text(let text)): typed = Hex.decode(text).map(CBORValue.bytes)
    case ("jpeg_portrait", .unsigned(let size)) where size <= 16 << 20:
      typed = .bytes(MockPortrait.jpeg(padded: Int(size)))
    case ("full_date", _), ("tdate", _), ("base64", _), ("hex", _), ("jpeg_portrait", _): typed = nil
    default: typed = map(members)
    }
    guard let typed else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a valid \(member.key)")
    }
    return typed
  }

  private static func map(_ members: [String: JSONElement]) -> CBORValue {
    .map(members.sorted { $0.key < $1.key }.map { (key: .text($0.key), value: $0.value.value) })
  }
}

extension DecodingError {
  private var context: Context? {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context
    @unknown default: nil
    }
  }

  fileprivate var path: String {
    let path = context?.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/") ?? ""
    return path.isEmpty ? "(top level)" : path
  }

  fileprivate var reason: String {
    if case .keyNotFound(let key, _) = self { return "lacks \(key.stringValue)" }
    return context?.debugDescription ?? "cannot be read"
  }
}
