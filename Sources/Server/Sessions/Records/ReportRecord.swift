import Base
import Mdoc

/// The immutable report of one attempt as it is stored and served: codes, outcomes, clauses, and details that name
/// elements, certificates or limits. Nothing personal.
package struct ReportRecord: Sendable, Hashable {
  package enum CheckRecord: Sendable, Hashable {
    /// As this version's registry has it.
    case known(Check)
    /// Of another version's registry, with the words that it had.
    case other(code: String, outcome: String, clause: String, detail: String?)

    package init(code: String, outcome: String, clause: String, detail: String?) {
      if let known = Code(rawValue: code), let worth = Check.Outcome(rawValue: outcome) {
        self = .known(Check(known, worth, detail: detail, clause: clause))
      } else {
        self = .other(code: code, outcome: outcome, clause: clause, detail: detail)
      }
    }

    package var code: String {
      switch self {
      case .known(let check): check.code.rawValue
      case .other(let code, _, _, _): code
      }
    }

    package var outcome: String {
      switch self {
      case .known(let check): check.outcome.rawValue
      case .other(_, let outcome, _, _): outcome
      }
    }

    package var clause: String {
      switch self {
      case .known(let check): check.clause
      case .other(_, _, let clause, _): clause
      }
    }

    package var detail: String? {
      switch self {
      case .known(let check): check.detail
      case .other(_, _, _, let detail): detail
      }
    }

    /// Without its detail.
    var redacted: CheckRecord {
      switch self {
      case .known(let check): .known(Check(check.code, check.outcome, clause: check.ownClause))
      case .other(let code, let outcome, let clause, _):
        .other(code: code, outcome: outcome, clause: clause, detail: nil)
      }
    }
  }

  package struct DocumentRecord: Sendable, Hashable {
    package let checks: [CheckRecord]
  }

  /// Absent where nothing is stored: `mdoc verify`.
  package let id: String?
  /// Unix seconds.
  package let verifiedAt: Int64
  package let trustSnapshot: String
  /// Absent in reports that were stored before there was one.
  package let revocationPolicy: String?
  /// Checks of the envelope and of the response as a whole.
  package let checks: [CheckRecord]
  package let documents: [DocumentRecord]

  package init(_ report: VerificationReport, id: ReportID?) {
    self.id = id?.text
    verifiedAt = report.verifiedAt.secondsSince1970
    trustSnapshot = report.trustSnapshot
    revocationPolicy = report.revocationPolicy.rawValue
    checks = report.checks.map(CheckRecord.known)
    documents = report.documents.map { DocumentRecord(checks: $0.checks.map(CheckRecord.known)) }
  }

  init(
    id: String?, verifiedAt: Int64, trustSnapshot: String, revocationPolicy: String?, checks: [CheckRecord],
    documents: [DocumentRecord]
  ) {
    self.id = id
    self.verifiedAt = verifiedAt
    self.trustSnapshot = trustSnapshot
    self.revocationPolicy = revocationPolicy
    self.checks = checks
    self.documents = documents
  }

  private init(_ other: ReportRecord, map: (CheckRecord) -> CheckRecord) {
    id = other.id
    verifiedAt = other.verifiedAt
    trustSnapshot = other.trustSnapshot
    revocationPolicy = other.revocationPolicy
    checks = other.checks.map(map)
    documents = other.documents.map { DocumentRecord(checks: $0.checks.map(map)) }
  }

  /// Without details: what remains after redaction is ids, times and codes.
  package func redacted() -> ReportRecord {
    ReportRecord(self) { $0.redacted }
  }
}

/// Why a session failed, or a wallet declined: the first failed check, and all of them, as codes and clauses; and the
/// words of a wallet that declined.
///
/// Codes are kept as their names, so that a record written by another version can still be read.
package struct LastError: Sendable, Hashable {
  package struct Reason: Sendable, Hashable {
    package let code: String
    /// The document's place in the response, or nil where the fault is the whole answer's.
    package let document: Int?
    package let clause: String
    /// As in the report; nil in records from before it was kept, and after redaction.
    package var detail: String?
  }

  package let code: String
  package let reasons: [Reason]
  /// The wallet's own, unverified words (`error_description`). They may be personal: only the session has them, until its
  /// redaction.
  package private(set) var walletDescription: String?

  /// Of a verdict's reasons, of which there is at least one.
  package init(_ reasons: [Base.Reason], walletDescription: String? = nil) {
    self.walletDescription = walletDescription
    self.reasons = reasons.map {
      Reason(code: $0.code.rawValue, document: $0.document, clause: $0.clause, detail: $0.detail)
    }
    code = self.reasons.first?.code ?? Code.apiInternal.rawValue
  }

  init(code: String, reasons: [Reason], walletDescription: String? = nil) {
    self.code = code
    self.reasons = reasons
    self.walletDescription = walletDescription
  }

  /// Codes and clauses, without details and the wallet's words.
  package var redacted: LastError {
    LastError(
      code: code, reasons: reasons.map { Reason(code: $0.code, document: $0.document, clause: $0.clause) })
  }

  /// The server stopped, or could not open the challenge, between consuming it and recording what came of it.
  package static let interrupted = LastError([Base.Reason(.sessionInterrupted)])
}
