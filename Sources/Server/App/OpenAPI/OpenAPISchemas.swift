import Base
import Sessions

/// The component schemas, each an object that allows no other members than those it lists, but for those whose
/// members are other people's: `metadata`, a document's elements, and what wallets get and send.
///
/// Whatever a generator makes a type of, an object, an enumeration or a choice, has a name, so that the type has one as
/// well: a schema within another by its title, under which it becomes a component of its own (`OpenAPIComponents`).
package enum OpenAPISchemas {
  static let all: [JSON.Member] =
    CreateSessionSchemas.all + RequestSchemas.all + WalletSchemas.all + SessionSchemas.all + ResultSchemas.all
    + ReportSchemas.all + EventSchemas.all + OperationSchemas.all

  // MARK: Parts

  package static func reference(_ name: String) -> JSON { OpenAPIDocument.reference(name) }

  package static let text: JSON = ["type": "string"]

  /// So many Unicode scalars.
  package static func text(_ characters: ClosedRange<Int>) -> JSON {
    [
      "type": "string", "minLength": .integer(Int64(characters.lowerBound)),
      "maxLength": .integer(Int64(characters.upperBound)),
    ]
  }

  package static func text(like pattern: String) -> JSON { ["type": "string", "pattern": .string(pattern)] }

  package static let textOrNull: JSON = orNull(text)
  package static let flag: JSON = ["type": "boolean"]
  package static let count: JSON = ["type": "integer"]
  package static let seconds: JSON = ["type": "integer", "format": "int64", "description": "Unix seconds."]
  package static let secondsOrNull: JSON = orNull(seconds)
  package static let sha256: JSON = text(like: "^[0-9a-f]{64}$")

  /// The schema with a text for people.
  package static func described(_ schema: JSON, _ text: String) -> JSON {
    .object((schema.object ?? []).filter { $0.name != "description" } + [.init("description", .string(text))])
  }

  /// A second type where the schema has one, else a choice: an enumeration would have to list null, and a component
  /// is not to allow it everywhere.
  package static func orNull(_ schema: JSON) -> JSON {
    let isChoice = ["title", "$ref", "const", "oneOf"].contains { schema[$0] != nil }
    guard !isChoice, let type = schema["type"]?.string else { return ["anyOf": [schema, ["type": "null"]]] }
    return .object(
      (schema.object ?? []).map { $0.name == "type" ? .init("type", [.string(type), "null"]) : $0 })
  }

  package static func list(of schema: JSON) -> JSON { ["type": "array", "items": schema] }

  package static func list(of schema: JSON, _ count: ClosedRange<Int>) -> JSON {
    [
      "type": "array", "items": schema, "minItems": .integer(Int64(count.lowerBound)),
      "maxItems": .integer(Int64(count.upperBound)),
    ]
  }

  package static func number(_ range: ClosedRange<Int64>, fallback: Int64? = nil) -> JSON {
    .members([
      "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
      "default": fallback.map { .integer($0) },
    ])
  }

  package static func constant(_ text: String) -> JSON { ["type": "string", "const": .string(text)] }

  package static func oneOf(_ names: [String]) -> JSON {
    ["type": "string", "enum": .array(names.map { .string($0) })]
  }

  /// Codes are no enumeration: versions add some, and a client that was made before must still read the reply.
  package static func code(_ codes: [Code], _ text: String) -> JSON {
    [
      "type": "string", "pattern": "^[a-z0-9_.]+$", "x-extensible-enum": .array(codes.map { .string($0.rawValue) }),
      "description": .string(text + " Those known to this version; later ones may have more."),
    ]
  }

  /// With the name that the schema is to have as a component.
  package static func titled(_ title: String, _ schema: JSON) -> JSON {
    .object([.init("title", .string(title))] + (schema.object ?? []))
  }

  package static func oneOf(_ title: String, _ names: [String]) -> JSON { titled(title, oneOf(names)) }

  package static func object(_ title: String, _ members: KeyValuePairs<String, JSON>, optional: Set<String> = [])
    -> JSON
  {
    titled(title, object(members, optional: optional))
  }

  /// An object whose members have names of others' choice.
  package static func map(of schema: JSON) -> JSON { ["type": "object", "additionalProperties": schema] }

  /// A closed object; all members are required but those in `optional`.
  package static func object(_ members: KeyValuePairs<String, JSON>, optional: Set<String> = []) -> JSON {
    object(
      members.map { JSON.Member($0.key, $0.value) }, required: members.map(\.key).filter { !optional.contains($0) })
  }

  package static func object(_ members: [JSON.Member], required: [String]) -> JSON {
    [
      "type": "object", "properties": .object(members), "required": .array(required.map { .string($0) }),
      "additionalProperties": false,
    ]
  }

  package static func listObject(of schema: String) -> JSON {
    object(["object": constant("list"), "data": list(of: reference(schema)), "has_more": flag])
  }
}
