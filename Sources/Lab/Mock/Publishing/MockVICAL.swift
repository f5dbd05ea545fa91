import Base
import Cryptography

/// One named way for a mock provider to publish its VICAL: rightly, or wrongly in one respect.
package struct MockVICAL: Sendable {
  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// The rows of the project's list of negative cases.
  package let cases: [String]
  /// What a verifier refuses the list for; nil: it is accepted.
  package let code: Code?
  /// What it warns of in a list that it accepts.
  package let warnings: [Code]
  /// What a driving licence under the good authority is refused for, where this list is all that is trusted; nil: it is
  /// verified. A list that is refused makes nobody trusted.
  package let documentCode: Code?
  /// Whether `code` is found only once the good list of the same time has been accepted.
  package let followsGood: Bool
  let change: @Sendable (inout VICALDraft) throws -> Void

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, warnings: [Code] = [],
    documentCode: Code? = nil, followsGood: Bool = false,
    _ change: @escaping @Sendable (inout VICALDraft) throws -> Void = { _ in }
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.code = code
    self.warnings = warnings
    self.documentCode = documentCode
    self.followsGood = followsGood
    self.change = change
  }

  /// The list's bytes, which change once a day of `now`, but for those whose times are about that very second.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    var draft = try VICALDraft(authority: authority, at: now)
    try change(&draft)
    return try draft.encoded()
  }

  /// The certificate of the provider's authority, DER: the anchor to be configured for the list's signer.
  package static func signerAnchor(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try VICALSigner.root(authority, VICALSigner.provider(authority), at: now)
  }

  /// What a verifier remembers of the good list that it has accepted: its date and number, and the payload's SHA-256.
  package static func remembered(
    of authority: MockAuthority, at now: Timestamp
  ) throws -> (date: Timestamp, number: Int64, digest: [UInt8]) {
    let payload = try VICALDraft(authority: authority, at: now).message().payload
    return (Timestamp(date: now.date), Int64(now.date.daysSince1970), HashAlgorithm.sha256.hash(payload))
  }

  package static func named(_ name: String) -> MockVICAL? { all.first { $0.name == name } }
}
