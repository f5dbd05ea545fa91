import MockIssuance
import Primitives
import VerificationService

/// What clients send besides what creates a session.
enum RequestSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("CreateMockResponse", mockResponse),
    .init("Nothing", Part.object([:])), .init("ElementReference", elementReference),
  ]

  private static let elementReference = Part.object(["namespace": Part.text, "identifier": Part.text])

  private static let mockResponse = Part.object(
    [
      "session": Part.text(like: SessionID.pattern),
      "protocol": Part.orNull([
        "type": "string", "enum": .array(ProtocolFamily.allCases.flatMap(\.protocolNames).map { .string($0) }),
        "description": "Of the session's, the one that is answered; by default its first.",
      ]),
      "variant": [
        "type": "string", "enum": .array(variants.map { .string($0) }), "default": "good",
        "description": "What `mdoc mock variants` lists.",
      ],
      "elements": [
        "description": "An array: what the person discloses. An object by namespace: what the documents say instead.",
        "oneOf": [
          Part.list(of: Part.reference("ElementReference")),
          ["type": "object", "additionalProperties": ["type": "object"]], ["type": "null"],
        ],
      ],
    ], optional: ["protocol", "variant", "elements"])

  private static let variants = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
}
