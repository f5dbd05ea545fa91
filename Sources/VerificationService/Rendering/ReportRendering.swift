import Mdoc
import Primitives

/// The `report` of an attempt: every check with its outcome and clause. `checks` on top are those of the envelope and
/// of the response as a whole.
public enum ReportRendering {
  public static func json(_ report: ReportRecord) -> JSON {
    .members([
      "id": report.id.map { .string($0) },
      "verified_at": .integer(report.verifiedAt),
      "trust_snapshot": .string(report.trustSnapshot),
      "revocation_policy": report.revocationPolicy.map { .string($0) },
      "checks": .array(report.checks.map(check)),
      "documents": .array(report.documents.map { ["checks": .array($0.checks.map(check))] }),
    ])
  }

  private static func check(_ check: ReportRecord.CheckRecord) -> JSON {
    .members([
      "code": .string(check.code), "outcome": .string(check.outcome), "clause": .string(check.clause),
      "detail": check.detail.map { .string($0) },
    ])
  }
}
