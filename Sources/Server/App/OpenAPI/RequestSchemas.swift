import Base
import Sessions

/// What clients send besides what creates a session.
enum RequestSchemas {
  private typealias Part = OpenAPISchemas

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
}
