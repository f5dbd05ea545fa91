import Base
import Mdoc

/// The `report` of an attempt: every check with its outcome and clause. `checks` on top are those of the envelope and
/// of the response as a whole.
package enum ReportRendering {
  package static func json(_ report: ReportRecord) -> JSON { shape.write(report) }

  static let shape = shape { .array($0.map(check.write)) }

  /// The same as a part of a reply, whose checks cannot be read any more.
  static let written = shape(writeChecks)

  private static func shape(
    _ write: @escaping @Sendable ([ReportRecord.CheckRecord]) -> JSON
  ) -> Shape<ReportRecord> {
    let checks = Shape<[ReportRecord.CheckRecord]>(check.list.schema, read: { _, _, _ in nil }, write: write)
    let document = Shape<ReportRecord.DocumentRecord>.open(
      "DocumentReport", "The checks of one document of the response.",
      [.always("checks", \.checks, checks, "The checks, in the order in which they were made.")])
    return .open(
      "VerificationReport", "The report of one attempt. It is immutable and holds no personal data.",
      [
        .ifAny("id", \.id, .written(like: ReportID.pattern), "Names the report."),
        .always(
          "verified_at", \.verifiedAt, .integer(0...Int64.max), "When the response was verified, in Unix seconds."),
        .always("trust_snapshot", \.trustSnapshot, .sha256, "SHA-256 of the trust anchors that were in force."),
        .ifAny(
          "revocation_policy", \.revocationPolicy, .written(RevocationPolicy.allCases.map(\.rawValue)),
          "How much had to be known about revocation."),
        .always("checks", \.checks, checks, "The checks of the response as a whole."),
        .always("documents", \.documents, document.list, "The checks of each document, in the response's order."),
      ])
  }

  /// One check of a report, or one finding about a trust source.
  package static let check = Shape<ReportRecord.CheckRecord>.open(
    "Check", "One check with its outcome.",
    [
      .always("code", \.code, .verdictCode, "The check."),
      .always(
        "outcome", \.outcome, .written(Check.Outcome.allCases.map(\.rawValue)),
        "`not_run` is never the same as `passed`; a `warning` does not reject."),
      .always("clause", \.clause, .written(), "The clause of the standard that asks for the check."),
      .ifAny("detail", \.detail, .written(), Shape<String>.detail),
    ])

  private static func writeChecks(_ checks: [ReportRecord.CheckRecord]) -> JSON {
    var text: [UInt8] = []
    text.reserveCapacity(2 + checks.count * 112)
    text.append(UInt8(ascii: "["))
    for (index, record) in checks.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      if case .known(let known) = record, known.detail == nil, known.ownClause == nil {
        text.append(contentsOf: words[known.code.place][known.outcome.place])
      } else {
        text += check.write(record).serialized()
      }
    }
    text.append(UInt8(ascii: "]"))
    return .written(JSONText(written: text))
  }

  /// The JSON of every check without a detail, by the places of its code and of its outcome. It is written once, since
  /// a hundred such checks are most of a reply.
  private static let words: [[[UInt8]]] = Code.allCases.map { code in
    Check.Outcome.allCases.map { check.write(.known(Check(code, $0))).serialized() }
  }
}

extension Check.Outcome {
  /// In `allCases`.
  fileprivate var place: Int {
    switch self {
    case .passed: 0
    case .failed: 1
    case .notRun: 2
    case .warning: 3
    }
  }
}
