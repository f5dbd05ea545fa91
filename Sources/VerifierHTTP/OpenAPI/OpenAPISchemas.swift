import Primitives
import VerificationService

/// The component schemas, each an object that allows no other members than those it lists, but for those whose
/// members are other people's: `metadata`, a document's elements, and what wallets get and send.
enum OpenAPISchemas {
  static let all: [JSON.Member] =
    CreateSessionSchemas.all + RequestSchemas.all + WalletSchemas.all + SessionSchemas.all + ResultSchemas.all
    + ReportSchemas.all
    + EventSchemas.all + OperationSchemas.all

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

  static let textOrNull: JSON = ["type": ["string", "null"]]
  static let flag: JSON = ["type": "boolean"]
  static let seconds: JSON = ["type": "integer", "description": "Unix seconds."]
  static let secondsOrNull: JSON = ["type": ["integer", "null"], "description": "Unix seconds."]
  static let sha256: JSON = text(like: "^[0-9a-f]{64}$")

  /// The schema with a text for people.
  static func described(_ schema: JSON, _ text: String) -> JSON {
    .object((schema.object ?? []) + [.init("description", .string(text))])
  }

  static func orNull(_ schema: JSON) -> JSON { ["anyOf": [schema, ["type": "null"]]] }

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

  static func oneOf(_ names: [String]) -> JSON {
    ["type": "string", "enum": .array(names.map { .string($0) })]
  }

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
    object(["object": ["const": "list"], "data": list(of: reference(schema)), "has_more": flag])
  }
}
