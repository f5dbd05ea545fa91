import App
import Base
import Mock
import Sessions

/// What `POST /v1/test/mock_responses` takes.
enum MockResponseSchema {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [.init("CreateMockResponse", mockResponse)]

  private static let mockResponse = Part.object(
    [
      "session": Part.text(like: SessionID.pattern),
      "protocol": Part.described(
        Part.orNull(Part.oneOf("PresentationProtocol", ProtocolFamily.allCases.flatMap(\.protocolNames))),
        "Of the session's, the one that is answered; by default its first."),
      "variant": Part.titled(
        "MockVariant",
        [
          "type": "string", "enum": .array(variants.map { .string($0) }), "default": "good",
          "description": "What `mdoc mock variants` lists.",
        ]),
      "elements": Part.orNull(
        Part.titled(
          "MockElements",
          [
            "oneOf": [
              Part.list(of: Part.reference("ElementReference")),
              Part.titled("MockDocumentElements", Part.map(of: Part.titled("MockElementValues", ["type": "object"]))),
            ],
            "description":
              "An array: what the person discloses. An object by namespace: what the documents say instead.",
          ])),
    ], optional: ["protocol", "variant", "elements"])

  private static let variants = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
}
