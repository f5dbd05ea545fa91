import Base
import Mdoc

/// What judging a bundle came to, as `mdoc verify bundle --json` prints it: the members of a verdict, after whose
/// evidence it is.
package enum EvidenceRendering {
  /// Of a bundle that could not be opened.
  package static func json(_ fault: EvidenceFault) -> JSON {
    .object(verdict(failed: [Reason(fault.code)], report: .null))
  }

  /// What an audit log said of a bundle.
  package enum Audit: Sendable {
    case notConsulted
    /// It does not verify, or does not have the bundle.
    case without
    /// It has the bundle, and no head that was noted earlier says that it is the log of then.
    case alone
    /// It has the bundle, and agrees with the noted heads.
    case withHeads
  }

  package static func json(
    _ bundle: EvidenceBundle, _ found: EvidenceBundle.Verification, audit: Audit = .notConsulted
  ) -> (json: JSON, fault: EvidenceFault?) {
    let origin: [JSON.Member] = [
      .init("session", .string(bundle.session.text)), .init("relying_party", .string(bundle.relyingParty)),
      .init("protocol", .string(bundle.protocolName)), .init("livemode", .bool(bundle.isLive)),
      .init("program", .string(bundle.program)),
      .init("in_audit", audit == .notConsulted ? .null : .bool(audit != .without)),
      .init("audit_heads", audit == .notConsulted ? .null : .bool(audit == .withHeads)),
    ]
    guard let fault = found.fault else {
      let verdict = VerdictRendering.json(found.verdict, id: found.report.id.flatMap(ReportID.init))
      return (.object(origin + (verdict.object ?? [])), nil)
    }
    var reasons = [Reason(fault.code)]
    if case .refused(let others) = found.verdict.outcome { reasons += others }
    return (.object(origin + verdict(failed: reasons, report: ReportRendering.json(found.report))), fault)
  }

  private static func verdict(failed reasons: [Reason], report: JSON) -> [JSON.Member] {
    [
      .init("status", .string(SessionStatus.failed.rawValue)),
      .init("last_error", VerdictRendering.lastError(LastError(reasons))), .init("result", .null),
      .init("report", report),
    ]
  }
}
