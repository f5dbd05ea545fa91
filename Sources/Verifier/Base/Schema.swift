/// The form that a JSON value must have: keywords of JSON Schema (draft 2020-12), in printing order.
///
/// `json` prints it, as the schema of a file or in OpenAPI 3.1. `violations` checks a value against it.
package struct Schema: Sendable, Hashable {
  package let keywords: [JSON.Member]

  package init(_ keywords: [JSON.Member]) { self.keywords = keywords }

  /// A schema that is already JSON.
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

/// Other keywords are written as a literal: `["type": "object"]`.
extension Schema: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSON)...) {
    keywords = elements.map { JSON.Member($0.0, $0.1) }
  }

  package static let text: Schema = ["type": "string"]

  /// - Parameter characters: the number of Unicode scalars.
  package static func text(_ characters: ClosedRange<Int>) -> Schema {
    text.with("minLength", .integer(Int64(characters.lowerBound)))
      .with("maxLength", .integer(Int64(characters.upperBound)))
  }

  /// - Parameter pattern: a regular expression (ECMA-262).
  package static func text(like pattern: String) -> Schema { text.with("pattern", .string(pattern)) }

  package static func nonEmptyString(like pattern: String? = nil) -> Schema {
    Schema(.members(["type": "string", "minLength": 1, "pattern": pattern.map { .string($0) }]))
  }

  package static func oneOf(_ names: [String]) -> Schema { text.with("enum", .array(names.map { .string($0) })) }

  package static func oneOf(_ title: String, _ names: [String]) -> Schema { oneOf(names).titled(title) }

  package static let flag: Schema = ["type": "boolean"]

  package static func number(_ range: ClosedRange<Int64>) -> Schema {
    ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
  }

  package static func list(of element: Schema) -> Schema { ["type": "array", "items": element.json] }

  package static func list(of element: Schema, _ count: ClosedRange<Int>) -> Schema {
    list(of: element, atLeast: count.lowerBound).with("maxItems", .integer(Int64(count.upperBound)))
  }

  package static func list(of element: Schema, atLeast least: Int) -> Schema {
    list(of: element).with("minItems", .integer(Int64(least)))
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
    // OpenAPI 3.0 does not allow an empty `required`.
    Schema(
      .members([
        "type": "object", "properties": .object(members.map { JSON.Member($0.name, $0.schema.json) }),
        "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
      ]))
  }

  /// A JSON object that another party defines.
  package static let anyObject: Schema = [
    "title": "JSONObject", "type": "object", "description": "Any JSON object.", "additionalProperties": true,
  ]

  /// A reference to a component schema of the API's contract.
  package static func reference(_ name: String) -> Schema { ["$ref": .string("#/components/schemas/\(name)")] }

  package static func anyOf(_ choices: [Schema]) -> Schema { ["anyOf": .array(choices.map(\.json))] }
  package static func oneOf(_ choices: [Schema]) -> Schema { ["oneOf": .array(choices.map(\.json))] }

  // MARK: Changing

  /// The schema with this keyword added. The keyword replaces any keyword of the same name.
  package func with(_ keyword: String, _ value: JSON) -> Schema {
    Schema(keywords.filter { $0.name != keyword } + [.init(keyword, value)])
  }

  package func described(_ text: String) -> Schema { with("description", .string(text)) }

  package func titled(_ title: String) -> Schema {
    Schema([.init("title", .string(title))] + keywords.filter { $0.name != "title" })
  }

  /// The schema, with null allowed as well. Adds null as a second type, and as a further value of an enumeration.
  package var orNull: Schema {
    // A schema without rules already allows null.
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

  /// The schema of a member. A titled schema is defined elsewhere: the member contains a reference and the summary.
  package func asMember(_ summary: String) -> Schema {
    guard self["title"] == nil else { return ["$ref": json, "description": .string(summary)] }
    return described(summary + (self["description"]?.string.map { " " + $0 } ?? ""))
  }
}

// MARK: Parts

extension Schema {
  /// The members of an object.
  package var members: [Member] { (self["properties"]?.object ?? []).map { Member($0.name, Schema($0.value)) } }

  /// The targets of references: `$defs` of a schema, or the component schemas of OpenAPI.
  package struct Definitions: Sendable {
    package let members: [Member]
    /// Maximum length in bytes of a text to match with a pattern: Swift's regular expressions are slow on a whole
    /// response.
    let longestMatched: Int

    package static let usuallyMatched = 511

    package init(_ members: [Member] = [], longestMatched: Int = usuallyMatched) {
      self.members = members
      self.longestMatched = longestMatched
    }

    package init(of document: JSON, longestMatched: Int = usuallyMatched) {
      let definitions = document["$defs"] ?? document["components"]?["schemas"]
      self.init((definitions?.object ?? []).map { Member($0.name, Schema($0.value)) }, longestMatched: longestMatched)
    }

    /// The schema itself, or the target if the schema is a reference; nil for an undefined reference.
    func target(of schema: Schema) -> Schema? {
      guard let reference = schema["$ref"]?.string else { return schema }
      let name = reference.split(separator: "/").last.map(String.init)
      return members.first { $0.name == name }?.schema
    }
  }
}

// MARK: Checking

extension Schema {
  /// The faults of a value. An unknown keyword is a fault too, so that no keyword is skipped silently.
  package func violations(
    of value: JSON, with definitions: Definitions = Definitions(), at pointer: String = ""
  ) -> [InputError] {
    keywords.flatMap { keyword -> [InputError] in
      if let found = faults(of: value, keyword, definitions, at: pointer) { return found }
      guard let isKept = keeps(value, keyword, definitions) else {
        return [InputError(pointer, "the schema has the unknown keyword \(keyword.name)")]
      }
      return isKept ? [] : [InputError(pointer, "violates \(keyword.name) \(keyword.value.text())")]
    }
  }

  /// The faults under keywords that apply other schemas; nil for other keywords.
  private func faults(
    of value: JSON, _ keyword: JSON.Member, _ definitions: Definitions, at pointer: String
  ) -> [InputError]? {
    func violations(_ value: JSON, _ schema: JSON, _ name: String? = nil) -> [InputError] {
      Schema(schema).violations(
        of: value, with: definitions, at: pointer + (name.map { "/" + JSONPointer.escape($0) } ?? ""))
    }
    switch keyword.name {
    case "$ref" where keyword.value.object != nil: return violations(value, keyword.value)
    case "$ref":
      guard let target = definitions.target(of: [keyword.name: keyword.value]) else {
        return [InputError(pointer, "the schema has no \(keyword.value.text())")]
      }
      return target.violations(of: value, with: definitions, at: pointer)
    case "properties":
      return (value.object ?? []).flatMap { member in
        keyword.value[member.name].map { violations(member.value, $0, member.name) } ?? []
      }
    case "required":
      return (keyword.value.array ?? []).compactMap(\.string).filter { value.object != nil && value[$0] == nil }
        .map { InputError("\(pointer)/\($0)", "is missing") }
    case "additionalProperties":
      let known = members.map(\.name)
      let others = (value.object ?? []).filter { !known.contains($0.name) }
      if keyword.value == false {
        return others.map { InputError(pointer + "/" + JSONPointer.escape($0.name), "is not known") }
      }
      return others.flatMap { violations($0.value, keyword.value, $0.name) }
    case "items":
      return (value.array ?? []).enumerated().flatMap { violations($0.element, keyword.value, "\($0.offset)") }
    case "anyOf", "oneOf":
      let matches = (keyword.value.array ?? []).count { violations(value, $0).isEmpty }
      let isRight = keyword.name == "anyOf" ? matches > 0 : matches == 1
      return isRight ? [] : [InputError(pointer, "must match exactly one of the allowed forms, but matches \(matches)")]
    case "$schema", "$defs", "title", "description", "default", "format", "discriminator": return []
    default: return nil
    }
  }

  /// True if the value is within a limit, or if the limit does not apply to the value's type. Nil for an unknown
  /// keyword.
  private func keeps(_ value: JSON, _ keyword: JSON.Member, _ definitions: Definitions) -> Bool? {
    let bound = keyword.value.integer ?? 0
    func fits(_ value: JSON) -> Bool { Schema(keyword.value).violations(of: value, with: definitions).isEmpty }
    return switch keyword.name {
    case "type": (keyword.value.array ?? [keyword.value]).contains { $0.string == Self.type(of: value) }
    case "const": value == keyword.value
    // Clients must accept unknown codes. Here the list is complete, since the same program wrote the schema.
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
    case "contains": value.array.map { $0.contains(where: fits) } ?? true
    case "uniqueItems": value.array.map { Set($0).count == $0.count } ?? true
    case "minProperties": value.object.map { $0.count >= bound } ?? true
    case "maxProperties": value.object.map { $0.count <= bound } ?? true
    case "propertyNames": value.object.map { $0.allSatisfy { fits(.string($0.name)) } } ?? true
    default: nil
    }
  }

  private static func matches(_ text: String, _ pattern: String) -> Bool {
    (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil } ?? false
  }

  /// The nearest 64-bit integer; nil if the value is not an integer.
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
