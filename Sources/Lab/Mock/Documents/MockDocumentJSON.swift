import Base
import CBOR

/// The JSON form of a document's data:
/// ```json
/// { "doc_type": "org.iso.18013.5.1.mDL", "age_over": [18, 21],
///   "namespaces": { "org.iso.18013.5.1": {
///     "family_name": "Morgan", "sex": 2, "birth_date": {"full_date": "1990-04-12"},
///     "issue_date": {"tdate": "2024-02-01T00:00:00Z"}, "portrait": {"jpeg_portrait": 35000}, "signature": {"base64":
///     "…"} } } }
/// ```
/// Text, numbers, booleans, arrays and null are the CBOR values of the same kind. An integer has up to 38 digits. An
/// object is a map, unless its only member is `full_date`, `tdate`, `base64`, `hex` or `jpeg_portrait` (the mock
/// portrait with this number of bytes; 0 means its own size). Elements and map entries are sorted by name, since JSON
/// objects have no order.
extension MockDocumentData {
  private static let shape = Shape.object(
    "document", "A document's elements.", { MockDocumentData(docType: $0, namespaces: $2, ageThresholds: $1 ?? []) },
    Field("doc_type", \.docType, .text(), "For example org.iso.18013.5.1.mDL; mdoc catalogue lists more."),
    .optional(
      "age_over", \.writtenThresholds, Shape<Int>.whole(0...99).list(0...100),
      "The NN of each age_over_NN that the issuer attests, computed from birth_date."),
    Field("namespaces", \.namespaces, namespacesShape, "Elements by namespace."))

  /// Never nil, so that the optional member is always written.
  private var writtenThresholds: [Int]? { ageThresholds }

  private static let namespacesShape = Shape<[Namespace]>(.map(of: .map(of: valueReference))) { json, pointer, faults in
    members(of: json, at: pointer, &faults) { elements, pointer, faults in
      members(of: elements, at: pointer, &faults, CBORValue.read)
    }?.map { Namespace($0.name, $0.value.map { ($0.name, $0.value) }) }
  } write: { spaces in
    .object(
      spaces.map { space in
        JSON.Member(space.name, .object(space.elements.map { JSON.Member($0.identifier, $0.value.json) }))
      })
  }

  private static let valueReference: Schema = ["$ref": "#/$defs/value"]

  /// The JSON Schema (draft 2020-12) of `list(json:)`.
  package static let listSchema: JSON = [
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Documents of a mock person",
    "anyOf": [["$ref": "#/$defs/document"], ["type": "array", "items": ["$ref": "#/$defs/document"]]],
    "$defs": ["document": shape.schema.json, "value": CBORValue.schema.json],
  ]

  package var json: JSON { Self.shape.write(self) }

  /// Reads one document.
  ///
  /// - Throws: `MockError` with the first fault and its path.
  package init(json bytes: [UInt8]) throws { try self.init(Self.parsed(bytes)) }

  package init(_ json: JSON) throws {
    var faults = Faults()
    let data = Self.shape.read(json, "", &faults)
    guard let data, faults.isEmpty else {
      let fault = faults.all.first
      throw MockError.invalidData(
        path: fault.map { String($0.pointer.dropFirst()) } ?? "", reason: fault?.detail ?? "cannot be read")
    }
    self = data
  }

  /// Reads an array of documents, or one document.
  package static func list(json bytes: [UInt8]) throws -> [MockDocumentData] {
    let json = try parsed(bytes)
    var documents: [MockDocumentData] = []
    for (index, document) in (json.array ?? [json]).enumerated() {
      do {
        documents.append(try MockDocumentData(document))
      } catch MockError.invalidData(let path, let reason) where json.array != nil {
        throw MockError.invalidData(path: "\(index)/\(path)", reason: reason)
      }
    }
    return documents
  }

  private static func parsed(_ bytes: [UInt8]) throws(MockError) -> JSON {
    do throws(JSON.SyntaxError) { return try JSON(parsing: bytes, values: 1_000_000) } catch {
      throw .invalidData(path: "(top level)", reason: "\(error)")
    }
  }
}

/// The members of an object, sorted by name; nil if one cannot be read.
private func members<Value>(
  of json: JSON, at pointer: String, _ faults: inout Faults,
  _ read: (JSON, _ pointer: String, inout Faults) -> Value?
) -> [(name: String, value: Value)]? {
  guard let members = json.object else {
    faults.add(pointer, "must be an object")
    return nil
  }
  var values: [(name: String, value: Value)] = []
  for member in members.sorted(by: { $0.name < $1.name }) {
    let value = read(member.value, "\(pointer)/\(JSONPointer.escape(member.name))", &faults)
    if let value { values.append((member.name, value)) }
  }
  return values.count == members.count ? values : nil
}

extension CBORValue {
  /// The typed values, identified by the only member of their JSON object.
  private static let typed: [(name: String, schema: Schema, make: @Sendable (JSON) -> CBORValue?)] = [
    (
      "full_date", ["type": "string", "format": "date", "description": "A full-date (CBOR tag 1004)."],
      { $0.string.flatMap { FullDate($0) }.map(CBORValue.fullDate) }
    ),
    (
      "tdate", ["type": "string", "format": "date-time", "description": "A time (CBOR tag 0)."],
      { json in json.string.flatMap { text in Timestamp(rfc3339: text).map { _ in .tagged(0, .text(text)) } } }
    ),
    (
      "base64", ["type": "string", "description": "Bytes, in base64 or base64url."],
      { $0.string.flatMap { Base64.decodeEither($0) }.map(CBORValue.bytes) }
    ),
    (
      "hex", ["type": "string", "pattern": "^([0-9A-Fa-f]{2})*$", "description": "Bytes."],
      { $0.string.flatMap { Hex.decode($0) }.map(CBORValue.bytes) }
    ),
    (
      "jpeg_portrait",
      [
        "type": "integer", "minimum": 0, "maximum": 16_777_216,
        "description": "The mock portrait, padded to this number of bytes; 0 leaves it unchanged.",
      ],
      { json in
        json.integer.flatMap { (0...16 << 20).contains($0) ? .bytes(MockPortrait.jpeg(padded: Int($0))) : nil }
      }
    ),
  ]

  fileprivate static let schema: Schema = {
    let value: Schema = ["$ref": "#/$defs/value"]
    let objects = typed.map { Schema.object([Schema.Member($0.name, $0.schema)], required: [$0.name]) }
    return .anyOf([["type": ["string", "number", "boolean", "null"]], .list(of: value)] + objects + [.map(of: value)])
  }()

  fileprivate static func read(_ json: JSON, at pointer: String, _ faults: inout Faults) -> CBORValue? {
    switch json {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return integer(Int128(number))
    case .largeInteger(let digits): return Int128(digits).map(integer) ?? Double(digits).map { .double($0) }
    case .double(let number): return .double(number)
    case .string(let text): return .text(text)
    case .array(let elements):
      let values = elements.enumerated().map { read($0.element, at: "\(pointer)/\($0.offset)", &faults) }
      return values.contains { $0 == nil } ? nil : .array(values.compactMap { $0 })
    case .object(let members):
      if members.count == 1, let type = typed.first(where: { $0.name == members[0].name }) {
        if let value = type.make(members[0].value) { return value }
        faults.add(pointer, "is not a valid \(type.name)")
        return nil
      }
      return Mock.members(of: json, at: pointer, &faults, read).map { entries in
        .map(entries.map { (key: .text($0.name), value: $0.value) })
      }
    case .written: return nil
    }
  }

  /// Major type 0 or 1 if the value fits, else a bignum (RFC 8949, 3.4.3).
  private static func integer(_ number: Int128) -> CBORValue {
    let argument = number < 0 ? -1 - number : number
    if let short = UInt64(exactly: argument) { return number < 0 ? .negative(short) : .unsigned(short) }
    let bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: argument >> Int128($0)) }
    return .tagged(number < 0 ? 3 : 2, .bytes(Array(bytes.drop { $0 == 0 })))
  }

  fileprivate var json: JSON {
    switch self {
    case .unsigned(let number): .digits("\(number)")
    case .negative(let number): .digits("\(-1 - Int128(number))")
    case .bytes(MockPortrait.jpeg): ["jpeg_portrait": 0]
    case .bytes(let bytes): ["base64": .string(Base64.encode(bytes))]
    case .text(let text): .string(text)
    case .array(let elements): .array(elements.map(\.json))
    case .map(let entries):
      .object(
        entries.compactMap { key, value in
          guard case .text(let name) = key else { return nil }
          return JSON.Member(name, value.json)
        })
    case .tagged(1004, .text(let text)): ["full_date": .string(text)]
    case .tagged(0, .text(let text)): ["tdate": .string(text)]
    case .tagged(2, .bytes(let bytes)): .digits("\(Self.magnitude(bytes))")
    case .tagged(3, .bytes(let bytes)): .digits("\(-1 - Self.magnitude(bytes))")
    case .tagged(_, let content): content.json
    case .bool(let flag): .bool(flag)
    case .double(let number): .double(number)
    case .null, .encoded: .null
    }
  }

  /// A bignum from this reader has at most 16 bytes.
  private static func magnitude(_ bytes: [UInt8]) -> Int128 { bytes.reduce(0) { $0 << 8 | Int128($1) } }
}
