/// The form that a JSON value must have: keywords of JSON Schema (draft 2020-12), in the order in which they are
/// printed.
///
/// A schema has three uses. It is printed, as the schema of a file or as a part of OpenAPI 3.1, which has the same
/// keywords (`json`). Values are checked against it (`violations`). And objects are read by it, so that a reader has
/// the members, bounds and defaults of the schema (`Schema.Object`).
package struct Schema: Sendable, Hashable {
  package let keywords: [JSON.Member]

  package init(_ keywords: [JSON.Member]) { self.keywords = keywords }

  /// A schema that exists as JSON.
  package init(_ json: JSON) { keywords = json.object ?? [] }

  package var json: JSON { .object(keywords) }

  package subscript(keyword: String) -> JSON? { keywords.first { $0.name == keyword }?.value }

  /// A named schema: a member of an object, or a definition to which others refer.
  package struct Member: Sendable, Hashable {
    package let name: String
    package let schema: Schema

    package init(_ name: String, _ schema: Schema) {
      self.name = name
      self.schema = schema
    }
  }
}

// MARK: Making

/// Keywords that have no function here are written as they are: `["type": "object"]`.
extension Schema: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSON)...) {
    keywords = elements.map { JSON.Member($0.0, $0.1) }
  }

  package static let text: Schema = ["type": "string"]

  /// A text whose number of Unicode scalars is in the range.
  package static func text(_ characters: ClosedRange<Int>) -> Schema {
    [
      "type": "string", "minLength": .integer(Int64(characters.lowerBound)),
      "maxLength": .integer(Int64(characters.upperBound)),
    ]
  }

  /// - Parameter pattern: a regular expression (ECMA-262).
  package static func text(like pattern: String) -> Schema { ["type": "string", "pattern": .string(pattern)] }

  /// A text that is not empty.
  package static func filledText(like pattern: String? = nil, default fallback: String? = nil) -> Schema {
    Schema(
      .members([
        "type": "string", "minLength": 1, "pattern": pattern.map { .string($0) },
        "default": fallback.map { .string($0) },
      ]))
  }

  package static func oneOf(_ names: [String], default fallback: String? = nil) -> Schema {
    Schema(
      .members([
        "type": "string", "enum": .array(names.map { .string($0) }), "default": fallback.map { .string($0) },
      ]))
  }

  /// One of the names, with a title.
  package static func oneOf(_ title: String, _ names: [String]) -> Schema { oneOf(names).titled(title) }

  package static let flag: Schema = ["type": "boolean"]
  package static func flag(default fallback: Bool) -> Schema { ["type": "boolean", "default": .bool(fallback)] }

  package static func number(_ range: ClosedRange<Int64>, default fallback: Int64? = nil) -> Schema {
    Schema(
      .members([
        "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
        "default": fallback.map { .integer($0) },
      ]))
  }

  package static func list(of element: Schema) -> Schema { ["type": "array", "items": element.json] }

  package static func list(of element: Schema, _ count: ClosedRange<Int>) -> Schema {
    [
      "type": "array", "items": element.json, "minItems": .integer(Int64(count.lowerBound)),
      "maxItems": .integer(Int64(count.upperBound)),
    ]
  }

  package static func list(of element: Schema, atLeast least: Int) -> Schema {
    ["type": "array", "items": element.json, "minItems": .integer(Int64(least))]
  }

  /// An object whose members may have any names.
  package static func map(of value: Schema) -> Schema { ["type": "object", "additionalProperties": value.json] }

  /// A closed object.
  package static func object(_ members: [Member], required: [String]) -> Schema {
    openObject(members, required: required).with("additionalProperties", false)
  }

  /// An object that may have other members as well.
  package static func openObject(_ members: KeyValuePairs<String, Schema>, required: [String] = []) -> Schema {
    openObject(members.map { Member($0.key, $0.value) }, required: required)
  }

  package static func openObject(_ members: [Member], required: [String]) -> Schema {
    // OpenAPI 3.0 has no empty list of what is required.
    Schema(
      .members([
        "type": "object", "properties": .object(members.map { JSON.Member($0.name, $0.schema.json) }),
        "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
      ]))
  }

  /// A JSON object whose members somebody else defines.
  package static let anyObject: Schema = [
    "title": "JSONObject", "type": "object", "description": "Any JSON object.", "additionalProperties": true,
  ]

  /// A reference to a component of the contract.
  package static func reference(_ name: String) -> Schema { ["$ref": .string("#/components/schemas/\(name)")] }

  package static func anyOf(_ choices: [Schema]) -> Schema { ["anyOf": .array(choices.map(\.json))] }
  package static func oneOf(_ choices: [Schema]) -> Schema { ["oneOf": .array(choices.map(\.json))] }

  // MARK: Changing

  /// The schema with one more keyword, which replaces one of the same name.
  package func with(_ keyword: String, _ value: JSON) -> Schema {
    Schema(keywords.filter { $0.name != keyword } + [.init(keyword, value)])
  }

  /// The schema with a text for people.
  package func described(_ text: String) -> Schema { with("description", .string(text)) }

  /// The schema with a title.
  package func titled(_ title: String) -> Schema {
    Schema([.init("title", .string(title))] + keywords.filter { $0.name != "title" })
  }

  /// The schema, or null: a second type, and a further name of an enumeration. A schema without a type is a choice.
  package var orNull: Schema {
    // One without any rule allows null already.
    if keywords.allSatisfy({ ["title", "description"].contains($0.name) }) { return self }
    guard let type = self["type"]?.string else { return .anyOf([self, ["type": "null"]]) }
    return Schema(
      keywords.map { keyword in
        switch keyword.name {
        case "type": .init("type", [.string(type), "null"])
        case "enum": .init("enum", .array((keyword.value.array ?? []) + [.null]))
        default: keyword
        }
      })
  }

  /// The schema as that of a member, with what the member means. One with a title stands elsewhere, so the text is put
  /// beside the reference to it.
  package func asMember(_ summary: String) -> Schema {
    guard self["title"] == nil else { return ["$ref": json, "description": .string(summary)] }
    return described(summary + (self["description"]?.string.map { " " + $0 } ?? ""))
  }
}

// MARK: Parts

extension Schema {
  /// The members that an object of the schema may have.
  package var members: [Member] { (self["properties"]?.object ?? []).map { Member($0.name, Schema($0.value)) } }

  /// The schemas that references lead to: `$defs` of a schema, or the component schemas of OpenAPI.
  package struct Definitions: Sendable {
    package let members: [Member]
    /// Texts of more bytes are not matched with patterns: Swift's expressions are slow on a wallet's whole answer.
    let longestMatched: Int

    /// Bytes of the longest text that is matched, unless the caller says otherwise.
    package static let usuallyMatched = 511

    package init(_ members: [Member] = [], longestMatched: Int = usuallyMatched) {
      self.members = members
      self.longestMatched = longestMatched
    }

    package init(of document: JSON, longestMatched: Int = usuallyMatched) {
      let definitions = document["$defs"] ?? document["components"]?["schemas"]
      self.init(
        (definitions?.object ?? []).map { Member($0.name, Schema($0.value)) }, longestMatched: longestMatched)
    }

    /// The schema itself, or the schema that it refers to; nil if that one is not defined.
    func target(of schema: Schema) -> Schema? {
      guard let reference = schema["$ref"]?.string else { return schema }
      let name = reference.split(separator: "/").last.map(String.init)
      return members.first { $0.name == name }?.schema
    }
  }

  /// A fault of a value, with what the value should be.
  package struct Fault: Error, Sendable, Hashable {
    /// A JSON pointer (RFC 6901); empty for the whole.
    package let pointer: String
    package let detail: String

    package init(_ pointer: String, _ detail: String) {
      self.pointer = pointer
      self.detail = detail
    }

    /// `/listen: must be …`; a fault of the whole has no pointer.
    package var text: String { pointer.isEmpty ? detail : "\(pointer): \(detail)" }
  }
}

// MARK: Reading

extension Schema {
  /// One reading of an input. It collects the faults, so that all of them are reported at once. Only the reading thread
  /// uses it.
  package final class Reading {
    package let definitions: Definitions
    package private(set) var faults: [Fault] = []

    package init(_ definitions: Definitions = Definitions()) { self.definitions = definitions }

    package func note(_ fault: Fault) {
      if !faults.contains(fault) { faults.append(fault) }
    }

    /// The value. If there is none, notes the fault and returns nil, so that the rest can still be read.
    package func attempt<Value>(_ value: @autoclosure () throws(Fault) -> Value) -> Value? {
      do throws(Fault) {
        return try value()
      } catch {
        note(error)
        return nil
      }
    }
  }

  /// One object of an input, read by its schema. It knows its place, so that every fault names the member.
  ///
  /// A member that is absent or null has the schema's default; without a default it is required. Members that may be
  /// absent are read with `ifAny`.
  package struct Object {
    /// How many bytes a text may have.
    private static let textBytes = 1...4096

    package let pointer: String
    private let schema: Schema
    private let members: [JSON.Member]
    private let reading: Reading

    /// Notes each member that the schema does not know.
    ///
    /// - Throws: `Fault` if the value is no object.
    package init(
      _ json: JSON, at pointer: String = "", by schema: Schema, in reading: Reading
    ) throws(Fault) {
      guard let members = json.object else { throw Fault(pointer, "must be an object") }
      self.pointer = pointer
      self.schema = schema
      self.members = members
      self.reading = reading
      let known = schema.members.map(\.name)
      for member in members where !known.contains(member.name) {
        let place = pointer + "/" + JSONPointer.escape(member.name)
        reading.note(Fault(place, "is not known; known here: \(known.joined(separator: ", "))"))
      }
    }

    /// The member; nil if it is absent or null.
    package func value(_ name: String) -> JSON? {
      members.first { $0.name == name }.flatMap { $0.value.isNull ? nil : $0.value }
    }

    package func fault(_ name: String, _ detail: String) -> Fault { Fault("\(pointer)/\(name)", detail) }

    package func attempt<Value>(_ value: @autoclosure () throws(Fault) -> Value) -> Value? {
      reading.attempt(try value())
    }

    package func required(_ name: String) throws(Fault) -> JSON {
      guard let value = value(name) else { throw fault(name, "is required") }
      return value
    }

    /// The member, or nil if it is not there.
    package func ifAny<Value>(_ name: String, _ read: (String) throws(Fault) -> Value) throws(Fault) -> Value? {
      value(name) == nil ? nil : try read(name)
    }

    package func text(_ name: String) throws(Fault) -> String {
      guard let text = try value(name, of: "string").string, Self.textBytes.contains(text.utf8.count) else {
        throw fault(name, "must be a text that is not empty")
      }
      return text
    }

    package func flag(_ name: String) throws(Fault) -> Bool {
      guard let flag = try value(name, of: "boolean").bool else { throw fault(name, "must be true or false") }
      return flag
    }

    package func number(_ name: String) throws(Fault) -> Int64 {
      let schema = schema(of: name, "integer")
      let least = schema["minimum"]?.integer ?? .min
      let most = schema["maximum"]?.integer ?? .max
      guard let number = try value(name, of: "integer").integer, least <= number, number <= most else {
        throw fault(name, "must be a whole number from \(least) to \(most)")
      }
      return number
    }

    package func texts(_ name: String) throws(Fault) -> [String] {
      var texts: [String] = []
      for (index, element) in try list(name, of: "texts").enumerated() {
        guard let text = element.string, !text.isEmpty else { throw fault("\(name)/\(index)", "must be a text") }
        texts.append(text)
      }
      return texts
    }

    /// The elements of a list that are objects. Notes each element that is not.
    package func objects(_ name: String) throws(Fault) -> [Object] {
      let element = target(Schema(schema(of: name, "array")["items"] ?? .null))
      var objects: [Object] = []
      for (index, json) in try list(name, of: "objects").enumerated() {
        let object = attempt(try Object(json, at: "\(pointer)/\(name)/\(index)", by: element, in: reading))
        if let object { objects.append(object) }
      }
      return objects
    }

    /// Nil if it is not there.
    package func object(_ name: String) throws(Fault) -> Object? {
      guard let value = value(name) else { return nil }
      return try Object(value, at: "\(pointer)/\(name)", by: schema(of: name, "object"), in: reading)
    }

    /// The list. If the schema allows an empty list, the member may be absent.
    private func list(_ name: String, of what: String) throws(Fault) -> [JSON] {
      let least = schema(of: name, "array")["minItems"]?.integer ?? 0
      if least == 0, value(name) == nil { return [] }
      guard let list = try required(name).array, list.count >= least else {
        throw fault(name, "must be a list of \(what)" + (least > 0 ? " with at least one" : ""))
      }
      return list
    }

    private func value(_ name: String, of type: String) throws(Fault) -> JSON {
      if let value = value(name) { return value }
      guard let fallback = schema(of: name, type)["default"] else { throw fault(name, "is required") }
      return fallback
    }

    /// The member's schema. If it has several forms, this is the first of the type.
    private func schema(of name: String, _ type: String) -> Schema {
      let own = target(schema.members.first { $0.name == name }?.schema)
      let forms = [own] + (own["anyOf"]?.array ?? []).map { target(Schema($0)) }
      guard let form = forms.first(where: { $0["type"]?.string == type }) else {
        // Schemas and readings belong together; tests go through both.
        preconditionFailure("the schema has no \(type) \(name)")
      }
      return form
    }

    private func target(_ schema: Schema?) -> Schema { schema.flatMap(reading.definitions.target) ?? [:] }
  }
}

// MARK: Checking

extension Schema {
  /// The faults of a value under the keywords that are used here. An unknown keyword is a fault too, so that none is
  /// skipped in silence.
  package func violations(
    of value: JSON, with definitions: Definitions = Definitions(), at pointer: String = ""
  ) -> [Fault] {
    keywords.flatMap { keyword -> [Fault] in
      if let found = faults(of: value, keyword, definitions, at: pointer) { return found }
      guard let isKept = keeps(value, keyword, definitions) else {
        return [Fault(pointer, "the schema has the unknown keyword \(keyword.name)")]
      }
      return isKept ? [] : [Fault(pointer, "does not keep \(keyword.name) \(keyword.value.text())")]
    }
  }

  /// The faults under keywords that lead to further schemas or members; nil for other keywords.
  private func faults(
    of value: JSON, _ keyword: JSON.Member, _ definitions: Definitions, at pointer: String
  ) -> [Fault]? {
    func violations(_ value: JSON, _ schema: JSON, _ name: String? = nil) -> [Fault] {
      Schema(schema).violations(
        of: value, with: definitions, at: pointer + (name.map { "/" + JSONPointer.escape($0) } ?? ""))
    }
    switch keyword.name {
    case "$ref" where keyword.value.object != nil: return violations(value, keyword.value)
    case "$ref":
      guard let target = definitions.target(of: [keyword.name: keyword.value]) else {
        return [Fault(pointer, "the schema has no \(keyword.value.text())")]
      }
      return target.violations(of: value, with: definitions, at: pointer)
    case "properties":
      return (value.object ?? []).flatMap { member in
        keyword.value[member.name].map { violations(member.value, $0, member.name) } ?? []
      }
    case "required":
      return (keyword.value.array ?? []).compactMap(\.string).filter { value.object != nil && value[$0] == nil }
        .map { Fault("\(pointer)/\($0)", "is missing") }
    case "additionalProperties":
      let known = members.map(\.name)
      let others = (value.object ?? []).filter { !known.contains($0.name) }
      if keyword.value == false {
        return others.map { Fault(pointer + "/" + JSONPointer.escape($0.name), "is not known") }
      }
      return others.flatMap { violations($0.value, keyword.value, $0.name) }
    case "items":
      return (value.array ?? []).enumerated().flatMap { violations($0.element, keyword.value, "\($0.offset)") }
    case "anyOf", "oneOf":
      let matches = (keyword.value.array ?? []).count { violations(value, $0).isEmpty }
      let isRight = keyword.name == "anyOf" ? matches > 0 : matches == 1
      return isRight ? [] : [Fault(pointer, "fits \(matches) forms in place of one")]
    case "$schema", "$defs", "title", "description", "default", "format", "discriminator": return []
    default: return nil
    }
  }

  /// Whether a value keeps a limit. A value of a type that the limit is not about keeps it. Nil for an unknown keyword.
  private func keeps(_ value: JSON, _ keyword: JSON.Member, _ definitions: Definitions) -> Bool? {
    let bound = keyword.value.integer ?? 0
    return switch keyword.name {
    case "type": (keyword.value.array ?? [keyword.value]).contains { $0.string == Self.type(of: value) }
    case "const": value == keyword.value
    // For clients, unknown codes are no fault. Here the list is complete, because the same program wrote the schema.
    case "enum", "x-extensible-enum": keyword.value.array?.contains(value) == true
    case "pattern":
      value.string.map { text in
        text.utf8.count > definitions.longestMatched || Self.matches(text, keyword.value.string ?? "")
      } ?? true
    case "minLength": value.string.map { $0.unicodeScalars.count >= bound } ?? true
    case "maxLength": value.string.map { $0.unicodeScalars.count <= bound } ?? true
    case "minimum": Self.clamped(value).map { $0 >= bound } ?? true
    case "maximum": Self.clamped(value).map { $0 <= bound } ?? true
    case "minItems": value.array.map { $0.count >= bound } ?? true
    case "maxItems": value.array.map { $0.count <= bound } ?? true
    case "contains":
      value.array.map { list in
        list.contains { Schema(keyword.value).violations(of: $0, with: definitions).isEmpty }
      } ?? true
    case "uniqueItems": value.array.map { Set($0).count == $0.count } ?? true
    case "minProperties": value.object.map { $0.count >= bound } ?? true
    case "maxProperties": value.object.map { $0.count <= bound } ?? true
    case "propertyNames":
      value.object.map { members in
        members.allSatisfy { Schema(keyword.value).violations(of: .string($0.name), with: definitions).isEmpty }
      } ?? true
    default: nil
    }
  }

  private static func matches(_ text: String, _ pattern: String) -> Bool {
    (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil } ?? false
  }

  /// The integer, or the nearest one that 64 bits hold; nil if the value is no integer.
  private static func clamped(_ value: JSON) -> Int64? {
    guard case .largeInteger(let digits) = value else { return value.integer }
    return digits.hasPrefix("-") ? .min : .max
  }

  private static func type(of value: JSON) -> String {
    switch value {
    case .object: "object"
    case .array: "array"
    case .string: "string"
    case .integer, .largeInteger: "integer"
    case .double: "number"
    case .bool: "boolean"
    case .null: "null"
    case .written: "written"
    }
  }
}
