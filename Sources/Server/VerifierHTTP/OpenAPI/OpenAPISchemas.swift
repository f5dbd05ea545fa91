import Primitives
import VerificationService

/// The component schemas, each an object that allows no other members than those it lists, but for those whose
/// members are other people's: `metadata`, a document's elements, and what wallets get and send.
///
/// Whatever a generator makes a type of, an object, an enumeration or a choice, has a name, so that the type has one as
/// well: a schema within another by its title, under which it becomes a component of its own (`OpenAPIComponents`).
enum OpenAPISchemas {
  static func all(isLive: Bool) -> [JSON.Member] {
    CreateSessionSchemas.all + RequestSchemas.all + WalletSchemas.all + SessionSchemas.all + ResultSchemas.all
      + ReportSchemas.all
      + EventSchemas.all + OperationSchemas.all + (isLive ? [] : RequestSchemas.testMode)
  }

  // MARK: Parts

  static func reference(_ name: String) -> JSON { OpenAPIDocument.reference(name) }

  static let text: JSON = ["type": "string"]

  /// So many Unicode scalars.
  static func text(_ characters: ClosedRange<Int>) -> JSON {
    [
      "type": "string", "minLength": .integer(Int64(characters.lowerBound)),
      "maxLength": .integer(Int64(characters.upperBound)),
    ]
  }

  static func text(like pattern: String) -> JSON { ["type": "string", "pattern": .string(pattern)] }

  static let textOrNull: JSON = orNull(text)
  static let flag: JSON = ["type": "boolean"]
  static let count: JSON = ["type": "integer"]
  static let seconds: JSON = ["type": "integer", "format": "int64", "description": "Unix seconds."]
  static let secondsOrNull: JSON = orNull(seconds)
  static let sha256: JSON = text(like: "^[0-9a-f]{64}$")

  /// The schema with a text for people.
  static func described(_ schema: JSON, _ text: String) -> JSON {
    .object((schema.object ?? []).filter { $0.name != "description" } + [.init("description", .string(text))])
  }

  /// A second type where the schema has one, else a choice: an enumeration would have to list null, and a component
  /// is not to allow it everywhere.
  static func orNull(_ schema: JSON) -> JSON {
    let isChoice = ["title", "$ref", "const", "oneOf"].contains { schema[$0] != nil }
    guard !isChoice, let type = schema["type"]?.string else { return ["anyOf": [schema, ["type": "null"]]] }
    return .object(
      (schema.object ?? []).map { $0.name == "type" ? .init("type", [.string(type), "null"]) : $0 })
  }

  static func list(of schema: JSON) -> JSON { ["type": "array", "items": schema] }

  static func list(of schema: JSON, _ count: ClosedRange<Int>) -> JSON {
    [
      "type": "array", "items": schema, "minItems": .integer(Int64(count.lowerBound)),
      "maxItems": .integer(Int64(count.upperBound)),
    ]
  }

  static func number(_ range: ClosedRange<Int64>, fallback: Int64? = nil) -> JSON {
    .members([
      "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
      "default": fallback.map { .integer($0) },
    ])
  }

  static func constant(_ text: String) -> JSON { ["type": "string", "const": .string(text)] }

  static func oneOf(_ names: [String]) -> JSON {
    ["type": "string", "enum": .array(names.map { .string($0) })]
  }

  /// Codes are no enumeration: versions add some, and a client that was made before must still read the reply.
  static func code(_ codes: [Code], _ text: String) -> JSON {
    [
      "type": "string", "pattern": "^[a-z0-9_.]+$", "x-extensible-enum": .array(codes.map { .string($0.rawValue) }),
      "description": .string(text + " Those known to this version; later ones may have more."),
    ]
  }

  /// With the name that the schema is to have as a component.
  static func titled(_ title: String, _ schema: JSON) -> JSON {
    .object([.init("title", .string(title))] + (schema.object ?? []))
  }

  static func oneOf(_ title: String, _ names: [String]) -> JSON { titled(title, oneOf(names)) }

  static func object(_ title: String, _ members: KeyValuePairs<String, JSON>, optional: Set<String> = []) -> JSON {
    titled(title, object(members, optional: optional))
  }

  /// An object whose members have names of others' choice.
  static func map(of schema: JSON) -> JSON { ["type": "object", "additionalProperties": schema] }

  /// A closed object; all members are required but those in `optional`.
  static func object(_ members: KeyValuePairs<String, JSON>, optional: Set<String> = []) -> JSON {
    object(
      members.map { JSON.Member($0.key, $0.value) }, required: members.map(\.key).filter { !optional.contains($0) })
  }

  static func object(_ members: [JSON.Member], required: [String]) -> JSON {
    [
      "type": "object", "properties": .object(members), "required": .array(required.map { .string($0) }),
      "additionalProperties": false,
    ]
  }

  static func listObject(of schema: String) -> JSON {
    object(["object": constant("list"), "data": list(of: reference(schema)), "has_more": flag])
  }
}
