import Primitives
import VerificationService

/// What clients send.
enum RequestSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("CreateVerificationSession", createSession), .init("DocumentRequest", document),
    .init("ElementRequest", element), .init("CreateMockResponse", mockResponse),
    .init("Nothing", Part.object([:])), .init("ElementReference", elementReference),
  ]

  private static let createSession = Part.object(
    [
      "protocols": Part.list(of: Part.oneOf(ProtocolFamily.allCases.flatMap(\.protocolNames))),
      "documents": Part.list(of: Part.reference("DocumentRequest")),
      "all_documents": Part.flag,
      "origin": ["type": "string", "description": "Of the page that asks, for web protocols."],
      "redirect_uri": [
        "type": "string",
        "description": "Where the wallet sends the person afterwards; for `openid4vp` on the same device.",
      ],
      "expires_in": Part.number(Limits.sessionLifetimeRange, fallback: Limits.sessionLifetime),
      "client_reference_id": ["type": "string", "maxLength": .integer(Int64(Limits.metadataValueCharacters))],
      "metadata": [
        "type": "object", "maxProperties": .integer(Int64(Limits.metadataMembers)),
        "additionalProperties": ["type": "string", "maxLength": .integer(Int64(Limits.metadataValueCharacters))],
      ],
    ], optional: ["all_documents", "origin", "redirect_uri", "expires_in", "client_reference_id", "metadata"])

  private static let document = Part.object(
    [
      "doc_type": Part.text,
      "elements": Part.list(of: Part.reference("ElementRequest")),
      "age_over": [
        "type": "array", "items": Part.number(1...125), "maxItems": .integer(Int64(Limits.ageRequests)),
      ],
      "minimum_age": Part.number(1...125),
    ], optional: ["elements", "age_over", "minimum_age"])

  private static let element = Part.object(
    [
      "namespace": Part.text, "identifier": Part.text,
      "intent_to_retain": ["type": "boolean", "default": false], "required": ["type": "boolean", "default": true],
    ], optional: ["intent_to_retain", "required"])

  private static let elementReference = Part.object(["namespace": Part.text, "identifier": Part.text])

  private static let mockResponse = Part.object(
    [
      "session": Part.text,
      "protocol": [
        "type": "string", "description": "Of the session's, the one that is answered; by default its first.",
      ],
      "variant": ["type": "string", "default": "good"],
      "elements": [
        "description": "An array: what the person discloses. An object by namespace: what the documents say instead.",
        "oneOf": [Part.list(of: Part.reference("ElementReference")), ["type": "object"]],
      ],
    ], optional: ["protocol", "variant", "elements"])
}
