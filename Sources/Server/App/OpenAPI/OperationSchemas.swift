import Base
import Sessions

/// Bodies that clients send, apart from the one that creates a session.
enum RequestSchemas {
  static let all: [Schema.Member] = [
    .init("CancelVerificationSession", cancellation),
    .init("Nothing", .object([:])), .init("ElementReference", elementReference),
  ]

  private static let elementReference: Schema = .object(["namespace": .text, "identifier": .text])

  private static let cancellation: Schema = .object(
    [
      "reason": .oneOf("CancelReason", CancelReason.allCases.map(\.rawValue)).orNull.described(
        "What the wallet told the app or page: the person declined, it was not available, or it failed. Required with a "
          + "client secret.")
    ], optional: ["reason"])
}
