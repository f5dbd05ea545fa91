import Base
import Mdoc

/// The `report` of an attempt: every check with its outcome and clause. `checks` on top are those of the envelope and
/// of the response as a whole.
package enum ReportRendering {
  package static func json(_ report: ReportRecord) -> JSON { json(report) { .array($0.map(check)) } }

  /// The same as a part of a reply, whose checks cannot be read any more.
  static func written(_ report: ReportRecord) -> JSON { json(report, written) }

  private static func json(_ report: ReportRecord, _ list: ([ReportRecord.CheckRecord]) -> JSON) -> JSON {
    .members([
      "id": report.id.map { .string($0) },
      "verified_at": .integer(report.verifiedAt),
      "trust_snapshot": .string(report.trustSnapshot),
      "revocation_policy": report.revocationPolicy.map { .string($0) },
      "checks": list(report.checks),
      "documents": .array(report.documents.map { ["checks": list($0.checks)] }),
    ])
  }

  private static func check(_ check: ReportRecord.CheckRecord) -> JSON {
    .members([
      "code": .string(check.code), "outcome": .string(check.outcome), "clause": .string(check.clause),
      "detail": check.detail.map { .string($0) },
    ])
  }

  private static func written(_ checks: [ReportRecord.CheckRecord]) -> JSON {
    var text: [UInt8] = []
    text.reserveCapacity(2 + checks.count * 112)
    text.append(UInt8(ascii: "["))
    for (index, record) in checks.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      if case .known(let check) = record, check.detail == nil {
        text.append(contentsOf: words[check.code.place][check.outcome.place])
      } else {
        text += Self.check(record).serialized()
      }
    }
    text.append(UInt8(ascii: "]"))
    return .written(JSONText(written: text))
  }

  /// The JSON of every check without a detail, by the places of its code and of its outcome. It is written once, since
  /// a hundred such checks are most of a reply.
  private static let words: [[[UInt8]]] = Code.allCases.map { code in
    Check.Outcome.allCases.map { check(.known(Check(code, $0))).serialized() }
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
