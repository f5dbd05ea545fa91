import Base
import Mdoc

/// A verdict outside any session, as `mdoc verify --json` prints it: the members of a session that an attempt sets, and
/// whether a verified answer has nothing in it.
package enum VerdictRendering {
  /// - Parameter id: of a report that is stored.
  package static func json(_ verdict: Verdict, id: ReportID? = nil) -> JSON {
    let report = ReportRendering.json(ReportRecord(verdict.report, id: id))
    switch verdict.outcome {
    case .accepted(let presentation):
      return [
        "status": .string(SessionStatus.verified.rawValue), "last_error": .null,
        "result": ResultRendering.json(presentation), "report": report,
        "nothing_disclosed": .bool(!presentation.disclosesSomething),
      ]
    case .refused(let reasons):
      return [
        "status": .string(SessionStatus.failed.rawValue), "last_error": lastError(LastError(reasons)),
        "result": .null, "report": report, "nothing_disclosed": false,
      ]
    }
  }

  static func lastError(_ error: LastError?) -> JSON {
    guard let error else { return .null }
    return [
      "code": .string(error.code),
      "reasons": .array(
        error.reasons.map { reason in
          [
            "code": .string(reason.code), "document": reason.document.map { .integer(Int64($0)) } ?? .null,
            "clause": .string(reason.clause),
          ]
        }),
    ]
  }
}
