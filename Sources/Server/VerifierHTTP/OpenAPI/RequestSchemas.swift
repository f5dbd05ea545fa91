import MockIssuance
import Primitives
import VerificationService

/// What clients send besides what creates a session.
enum RequestSchemas {
  private typealias Part = OpenAPISchemas

  static let testMode: [JSON.Member] = [.init("CreateMockResponse", mockResponse)]

  static let all: [JSON.Member] = [
    .init("CancelVerificationSession", cancellation),
    .init("Nothing", Part.object([:])), .init("ElementReference", elementReference),
  ]

  private static let elementReference = Part.object(["namespace": Part.text, "identifier": Part.text])

  private static let cancellation = Part.object(
    [
      "reason": Part.described(
        Part.orNull(Part.oneOf("CancelReason", CancelReason.allCases.map(\.rawValue))),
        "What the wallet told the app or page: the person declined, it was not available, or it failed. Required with a "
          + "client secret.")
    ], optional: ["reason"])

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
