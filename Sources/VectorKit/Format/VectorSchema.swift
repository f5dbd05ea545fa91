import Primitives

/// The JSON Schema of a vector's file, which `schema.json` of the suite holds.
public enum VectorSchema {
  public static var fileContent: [UInt8] { json.serialized(pretty: true) + [UInt8(ascii: "\n")] }

  public static let json: JSON = [
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "mdoc test vector",
    "description": "One answer of a wallet, what is needed to judge it, and what the judgement is to be.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id", "description", "reference", "cases", "flags", "importance", "features", "validation_time", "protocol",
      "session", "request", "trust_anchors", "expect",
    ],
    "properties": .object(properties),
    "oneOf": [["required": ["input"]], ["required": ["generator"]]],
    "$defs": definitions,
  ]

  private static let properties: [JSON.Member] = [
    .init("id", described("The file's name without .json.", ["type": "string", "pattern": "^[a-z0-9][a-z0-9.-]*$"])),
    .init("description", described("What is wrong, in one sentence.", text)),
    .init("reference", described("The clause that decides it.", text)),
    .init("cases", described("Rows of the list of negative cases.", list(["pattern": "^[A-Z][0-9]{2}$"]))),
    .init("flags", ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/flag"]]),
    .init("importance", ["enum": choices(TestVector.Importance.self)]),
    .init("features", described("Capabilities without which a verifier skips the case.", list([:]))),
    .init("validation_time", described("The verifier's clock, RFC 3339 in UTC.", text)),
    .init("protocol", ["enum": ["apple-in-app", "proximity"]]),
    .init("session", ["oneOf": [["$ref": "#/$defs/apple"], ["$ref": "#/$defs/proximity"]]]),
    .init(
      "request",
      described("What was asked: documents, doc_type, elements, age_over, minimum_age.", ["type": "object"])),
    .init("trust_anchors", described("Files of the folder anchors, without .pem; none: nobody is trusted.", list([:]))),
    .init("policy", ["$ref": "#/$defs/policy"]),
    .init("input", described("The answer.", base64)),
    .init("generator", ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/part"]]),
    .init("expect", ["$ref": "#/$defs/expect"]),
  ]

  private static let definitions: JSON = [
    "flag": object(["name": text, "bug_class": ["enum": choices(BugClass.self)]]),
    "apple": object(["nonce": base64, "merchant_id": text, "team_id": text, "recipient_key": base64]),
    "proximity": object(["transcript": base64, "reader_key": base64], optional: ["reader_key"]),
    "policy": object(
      ["strict": ["type": "boolean"], "clock_skew": ["type": "integer"], "test_certificates": ["type": "boolean"]],
      optional: ["strict", "clock_skew", "test_certificates"]),
    "part": object(["bytes": base64, "times": ["type": "integer", "minimum": 1]], optional: ["times"]),
    "expect": object(
      ["stage": ["enum": choices(VectorStage.self)], "codes": list([:]), "warnings": list([:])],
      optional: ["warnings"]),
  ]

  private static let text: JSON = ["type": "string", "minLength": 1]
  /// Base64url without padding (RFC 4648, 5).
  private static let base64: JSON = ["type": "string", "pattern": "^[A-Za-z0-9_-]*$"]

  private static func list(_ item: JSON) -> JSON {
    let items = JSON.object([.init("type", "string")] + (item.object ?? []))
    return ["type": "array", "items": items, "uniqueItems": true]
  }

  private static func object(_ properties: JSON, optional: Set<String> = []) -> JSON {
    let required = (properties.object ?? []).map(\.name).filter { !optional.contains($0) }
    return [
      "type": "object", "additionalProperties": false, "required": .strings(required), "properties": properties,
    ]
  }

  private static func described(_ description: String, _ schema: JSON) -> JSON {
    .object([.init("description", .string(description))] + (schema.object ?? []))
  }

  private static func choices<Choice: CaseIterable & RawRepresentable<String>>(_: Choice.Type) -> JSON {
    .strings(Choice.allCases.map(\.rawValue))
  }
}
