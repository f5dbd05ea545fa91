import Base

/// One named way for the mock operator to publish a list of trusted entities: rightly, or wrongly in one respect.
package struct MockTrustedEntityList: Sendable {
  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// The rows of the project's list of negative cases.
  package let cases: [String]
  /// The code that refuses the list, where the good one of the same time was accepted before; nil: it is accepted.
  package let code: Code?
  /// The codes that warn.
  package let warnings: [Code]
  /// Whether the list, where it is accepted, makes anything trusted.
  package let hasAnchors: Bool
  let change: @Sendable (inout TrustedEntityListDraft) throws -> Void

  /// The type of the services that issue documents, here of the mock authority's types.
  package static let issuanceService = "http://uri.etsi.org/19602/SvcType/mDL/Issuance"
  /// The type of the services that sign status lists.
  package static let revocationService = "http://uri.etsi.org/19602/SvcType/mDL/Revocation"
  /// What a verifier in test mode configures the issuing services for.
  package static let docTypes = [MockDocType.mDL, MockDocType.photoID]

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, warnings: [Code] = [],
    hasAnchors: Bool = true, _ change: @escaping @Sendable (inout TrustedEntityListDraft) throws -> Void = { _ in }
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.code = code
    self.warnings = warnings
    self.hasAnchors = hasAnchors
    self.change = change
  }

  /// The bytes to be served as `application/jose`; they change once a day of `now`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    var draft = try TrustedEntityListDraft(authority: authority, at: now)
    try change(&draft)
    return try draft.published()
  }

  /// DER of the root that a verifier configures for the list's signer.
  package static func signerRoot(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try SchemeOperator.rootCertificate(authority, at: now)
  }

  /// What a verifier remembers of the good list that it has accepted: when it was issued, and its number.
  package static func remembered(at now: Timestamp) -> (issued: Timestamp, number: Int64) {
    (Timestamp(date: now.date), Int64(now.date.daysSince1970))
  }

  package static func named(_ name: String) -> MockTrustedEntityList? { all.first { $0.name == name } }
}
