import Base
import Mdoc

/// The JSON Schema of a vector's file, stored as `schema.json` in the suite.
package enum VectorSchema {
  package static var fileContent: [UInt8] { json.serialized(pretty: true) + [UInt8(ascii: "\n")] }

  package static let json: JSON = [
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "mdoc test vector",
    "description": "One answer or one list of anchors, what is needed to judge it, and what the judgement is to be.",
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
    .init("protocol", ["enum": .strings(protocols)]),
    .init(
      "session",
      ["oneOf": .array(sessions.map { ["$ref": .string("#/$defs/\($0)")] })]),
    .init(
      "request",
      described("What was asked: documents, doc_type, elements, age_over, minimum_age.", ["type": "object"])),
    .init("trust_anchors", described("Files of the folder anchors, without .pem; none: nobody is trusted.", list([:]))),
    .init("policy", ["$ref": "#/$defs/policy"]),
    .init(
      "publications",
      described(
        "What is to be had at which address, and nothing anywhere else.",
        ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/publication"]])),
    .init("anchor_list", ["$ref": "#/$defs/anchorList"]),
    .init("input", described("The answer.", base64)),
    .init(
      "generator",
      ["type": "array", "minItems": 1, "items": ["oneOf": [["$ref": "#/$defs/part"], ["$ref": "#/$defs/copy"]]]]),
    .init("expect", ["$ref": "#/$defs/expect"]),
  ]

  private static let protocols =
    ["apple-in-app", "proximity", VectorSession.annexCName] + VectorSession.OpenID4VP.overBrowser
    + VectorSession.OpenID4VP.redirected + VectorList.Format.allCases.map(\.rawValue)

  private static let sessions = [
    "apple", "proximity", "annexC", "openID4VP", "openID4VPRedirect", "list", "serviceList",
  ]

  private static let definitions: JSON = [
    "flag": object(["name": text, "bug_class": ["enum": choices(BugClass.self)]]),
    "apple": object(["nonce": base64, "merchant_id": text, "team_id": text, "recipient_key": base64]),
    "proximity": object(["transcript": base64, "reader_key": base64], optional: ["reader_key"]),
    "annexC": object(["encryption_info": base64, "origin": text, "recipient_key": base64]),
    "openID4VP": object(
      ["nonce": text, "origin": text, "encryption_key": base64, "key_id": text],
      optional: ["encryption_key", "key_id"]),
    "openID4VPRedirect": object(
      [
        "nonce": text, "client_id": text, "response_uri": text, "state": text, "encryption_key": base64,
        "key_id": text,
      ], optional: ["state", "encryption_key", "key_id"]),
    "policy": object(
      [
        "strict": ["type": "boolean"], "clock_skew": ["type": "integer"], "test_certificates": ["type": "boolean"],
        "revocation": ["enum": choices(RevocationPolicy.self)], "jwt_status_lists": ["type": "boolean"],
      ],
      optional: ["strict", "clock_skew", "test_certificates", "revocation", "jwt_status_lists"]),
    "list": object(["last_accepted": ["$ref": "#/$defs/lastAccepted"]], optional: ["last_accepted"]),
    "serviceList": object(
      [
        "issuance": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/service"]], "revocation": list([:]),
        "last_accepted": ["$ref": "#/$defs/lastAccepted"],
      ], optional: ["last_accepted"]),
    "service": object(["service_type": text, "doc_types": list([:])]),
    "lastAccepted": object(
      ["date": text, "number": ["type": "integer"], "digest": base64], optional: ["number", "digest"]),
    "anchorList": oneForm(
      [
        "format": ["enum": choices(VectorList.Format.self)],
        "source": ["oneOf": [["$ref": "#/$defs/list"], ["$ref": "#/$defs/serviceList"]]], "signers": list([:]),
        "bytes": base64, "generator": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/part"]],
      ], of: ["bytes", "generator"]),
    "publication": oneForm(
      [
        "address": text, "media_type": text, "bytes": base64,
        "generator": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/part"]],
        "fault": ["enum": choices(VectorPublication.Fault.self)],
      ], of: ["bytes", "generator", "fault"], optional: ["media_type"]),
    "part": object(["bytes": base64, "times": ["type": "integer", "minimum": 1]], optional: ["times"]),
    "copy": object(
      ["vector": text, "from": ["type": "integer", "minimum": 0], "count": ["type": "integer", "minimum": 1]]),
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

  /// The schema of an object that has exactly one of the named members.
  private static func oneForm(_ properties: JSON, of names: [String], optional: Set<String> = []) -> JSON {
    let forms = JSON.Member("oneOf", .array(names.map { ["required": .strings([$0])] }))
    return .object((object(properties, optional: optional.union(names)).object ?? []) + [forms])
  }

  private static func described(_ description: String, _ schema: JSON) -> JSON {
    .object([.init("description", .string(description))] + (schema.object ?? []))
  }

  private static func choices<Choice: CaseIterable & RawRepresentable<String>>(_: Choice.Type) -> JSON {
    .strings(Choice.allCases.map(\.rawValue))
  }
}
