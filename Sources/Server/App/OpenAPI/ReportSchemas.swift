import Base
import Mdoc
import Sessions

/// The report of an attempt.
enum ReportSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationReport", report), .init("Check", check),
  ]

  private static let report = Part.object(
    [
      "id": Part.text(like: ReportID.pattern),
      "verified_at": Part.seconds,
      "trust_snapshot": Part.sha256,
      "revocation_policy": Part.oneOf("RevocationPolicy", RevocationPolicy.allCases.map(\.rawValue)),
      "checks": Part.list(of: Part.reference("Check")),
      "documents": Part.list(of: Part.object("DocumentReport", ["checks": Part.list(of: Part.reference("Check"))])),
    ], optional: ["revocation_policy"])

  private static let check = Part.object(
    [
      "code": Part.reference("VerdictCode"),
      "outcome": Part.oneOf("CheckOutcome", ["passed", "failed", "not_run", "warning"]),
      "clause": Part.text,
      "detail": ["type": "string", "description": "Names of elements, certificates or limits; never a value."],
    ], optional: ["detail"])
}
