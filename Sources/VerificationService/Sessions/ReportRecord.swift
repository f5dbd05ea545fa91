import Mdoc
import Primitives

/// The immutable report of one attempt as it is stored and served: codes, outcomes, clauses, and details that name
/// elements, certificates or limits. Nothing personal.
public struct ReportRecord: Sendable, Hashable {
  public struct CheckRecord: Sendable, Hashable {
    public let code: String
    public let outcome: String
    public let clause: String
    public let detail: String?
  }

  public struct DocumentRecord: Sendable, Hashable {
    public let checks: [CheckRecord]
  }

  /// Absent where nothing is stored: `mdoc verify`.
  public let id: String?
  /// Unix seconds.
  public let verifiedAt: Int64
  public let trustSnapshot: String
  /// Absent in reports that were stored before there was one.
  public let revocationPolicy: String?
  /// Checks of the envelope and of the response as a whole.
  public let checks: [CheckRecord]
  public let documents: [DocumentRecord]

  public init(_ report: VerificationReport, id: ReportID?) {
    self.id = id?.text
    verifiedAt = report.verifiedAt.secondsSince1970
    trustSnapshot = report.trustSnapshot
    revocationPolicy = report.revocationPolicy.rawValue
    checks = report.checks.map(CheckRecord.init)
    documents = report.documents.map { DocumentRecord(checks: $0.checks.map(CheckRecord.init)) }
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
  public func redacted() -> ReportRecord {
    ReportRecord(self) { CheckRecord(code: $0.code, outcome: $0.outcome, clause: $0.clause, detail: nil) }
  }
}

extension ReportRecord.CheckRecord {
  init(_ check: Check) {
    self.init(
      code: check.code.rawValue, outcome: check.outcome.rawValue, clause: check.clause, detail: check.detail)
  }
}
