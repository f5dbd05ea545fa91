import Base
import Mdoc

/// The `result` of a verified session: the one place with personal data.
enum ResultSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationResult", Part.object(["documents": Part.list(of: Part.reference("VerifiedDocument"))])),
    .init("VerifiedDocument", document), .init("ElementsByNamespace", elements),
    .init("SimulatedResult", simulated), .init("AgeAnswer", age),
  ]

  private static let document = Part.object([
    "doc_type": Part.text,
    "elements": Part.reference("ElementsByNamespace"),
    "device_signed_elements": Part.reference("ElementsByNamespace"),
    "age_over": Part.list(of: Part.reference("AgeAnswer")),
    "missing_elements": Part.list(of: Part.reference("ElementReference")),
    "unrequested_elements": Part.list(of: Part.reference("ElementReference")),
    "issuer": Part.object(
      "Issuer",
      [
        "country": Part.textOrNull, "state_or_province": Part.textOrNull, "common_name": Part.textOrNull,
        "certificate_sha256": Part.sha256, "anchor_sha256": Part.sha256,
      ]),
    "validity": Part.object(
      "DocumentValidity", ["signed": Part.seconds, "valid_from": Part.seconds, "valid_until": Part.seconds]),
    "device_authentication": Part.oneOf(
      "DeviceAuthenticationMethod", DeviceAuthenticationMethod.allCases.map(\.rawValue)),
    "revocation": Part.oneOf("RevocationStatus", RevocationStatus.allCases.map(\.rawValue)),
  ])

  private static let age = Part.object([
    "threshold": Part.count, "answer": Part.flag, "proved_by": Part.reference("ElementReference"),
  ])

  /// Test mode only, beside `apple.simulator_answer` and `apple.profile_answer`: what Apple's simulator, or a device with
  /// its test profile, answered. It proves nothing.
  private static let simulated = Part.object([
    "documents": Part.list(
      of: Part.object(
        "SimulatedDocument",
        [
          "doc_type": Part.text, "elements": Part.reference("ElementsByNamespace"),
          "age_over": Part.list(of: Part.reference("AgeAnswer")),
        ]))
  ])

  private static let elements: JSON = [
    "type": "object",
    "description": .string(
      "Namespaces, in each identifiers with their values: text, `full-date` as YYYY-MM-DD, `tdate` as RFC 3339, bytes "
        + "as {\"media_type\"?, \"base64\"}, numbers, booleans, maps and arrays as themselves."),
    "additionalProperties": Part.titled("ElementValues", ["type": "object"]),
  ]
}
