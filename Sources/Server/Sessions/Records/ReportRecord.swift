import Base
import Mdoc

/// The immutable report of one attempt, stored and served. Details contain names of elements, certificates or limits.
package struct ReportRecord: Sendable, Hashable {
  package enum CheckRecord: Sendable, Hashable {
    /// A check in this version's registry.
    case known(Check)
    /// A check that is only in another version's registry, with its texts.
    case other(Words)

    package struct Words: Sendable, Hashable {
      let code, outcome, clause: String
      let detail: String?
    }

    package init(code: String, outcome: String, clause: String, detail: String?) {
      if let known = Code(rawValue: code), let worth = Check.Outcome(rawValue: outcome) {
        self = .known(Check(known, worth, detail: detail, clause: clause))
      } else {
        self = .other(Words(code: code, outcome: outcome, clause: clause, detail: detail))
      }
    }

    package var code: String { words.code }
    package var outcome: String { words.outcome }
    package var clause: String { words.clause }
    package var detail: String? { words.detail }

    private var words: Words {
      switch self {
      case .known(let check):
        Words(code: check.code.rawValue, outcome: check.outcome.rawValue, clause: check.clause, detail: check.detail)
      case .other(let words): words
      }
    }

    var redacted: CheckRecord {
      switch self {
      case .known(let check): .known(Check(check.code, check.outcome, clause: check.ownClause))
      case .other(let words): .other(Words(code: words.code, outcome: words.outcome, clause: words.clause, detail: nil))
      }
    }
  }

  package struct DocumentRecord: Sendable, Hashable {
    package let checks: [CheckRecord]
  }

  /// The report's id; nil if the report is not stored, as in `mdoc verify`.
  package let id: String?
  /// Unix seconds.
  package let verifiedAt: Int64
  package let trustSnapshot: String
  /// Nil in older reports.
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

  /// Only ids, times and codes remain after redaction.
  package func redacted() -> ReportRecord {
    ReportRecord(
      id: id, verifiedAt: verifiedAt, trustSnapshot: trustSnapshot, revocationPolicy: revocationPolicy,
      checks: checks.map(\.redacted), documents: documents.map { DocumentRecord(checks: $0.checks.map(\.redacted)) })
  }
}

/// The reason why a session failed or a wallet declined. Codes are stored by name, so that another version can read
/// them.
package struct LastError: Sendable, Hashable {
  package struct Reason: Sendable, Hashable {
    package let code: String
    /// The document's index in the response; nil if the fault concerns the whole response.
    package let document: Int?
    package let clause: String
    /// Nil in older records and after redaction.
    package var detail: String?
  }

  package let code: String
  package let reasons: [Reason]
  /// The wallet's own description of its error (`error_description`), unverified. It may contain personal data, so
  /// redaction erases it.
  package private(set) var walletDescription: String?

  /// - Parameter reasons: at least one reason from a verdict.
  package init(_ reasons: [Base.Reason], walletDescription: String? = nil) {
    self.walletDescription = walletDescription
    self.reasons = reasons.map {
      Reason(code: $0.code.rawValue, document: $0.document, clause: $0.clause, detail: $0.detail)
    }
    code = self.reasons.first?.code ?? Code.apiInternal.rawValue
  }

  init(code: String, reasons: [Reason] = [], walletDescription: String? = nil) {
    self.code = code
    self.reasons = reasons
    self.walletDescription = walletDescription
  }

  /// Only the error's code, for holders of client secrets and for events.
  var codeOnly: LastError { LastError(code: code) }

  /// Only codes and clauses: no details, and no text from the wallet.
  package var redacted: LastError {
    LastError(code: code, reasons: reasons.map { Reason(code: $0.code, document: $0.document, clause: $0.clause) })
  }

  /// The server stopped after consuming the challenge and before recording an outcome, or could not open the challenge.
  package static let interrupted = LastError([Base.Reason(.sessionInterrupted)])
}

/// A value for each registered code, such as its stored tag or its rendered words.
struct CodeTable<Value: Sendable>: Sendable {
  private let values: [Value?]

  init(_ value: (Code) -> Value) {
    var values = [Value?](repeating: nil, count: 1 + (Code.allCases.map(\.index).max() ?? 0))
    for code in Code.allCases { values[code.index] = value(code) }
    self.values = values
  }

  subscript(code: Code) -> Value? { code.index < values.count ? values[code.index] : nil }
}
