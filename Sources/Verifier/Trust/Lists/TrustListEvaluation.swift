import Base
import PKIX

/// What one signed list of trust anchors came to.
public struct TrustListEvaluation<List: Sendable>: Sendable {
  public let checks: [Check]
  /// The list, where its signature verified and its form is right; whether it is in force, `isAccepted` says.
  public internal(set) var list: List?
  /// Who signed it, first, up to the configured anchor; empty where that was not established.
  public internal(set) var signerPath: [Certificate] = []
  /// What the list makes trusted, each for the document types of its entries; empty unless the list is accepted.
  ///
  /// They end paths and are never links of one: a listed authority vouches for the signers that it certifies itself.
  public internal(set) var anchors: [TrustAnchor] = []
  /// Who may sign status lists; empty unless the list is accepted. A VICAL names nobody.
  public internal(set) var statusListSigners: [StatusListSigner] = []
  /// Services of types that are not configured, by type; those without a type under the empty text. A VICAL has none.
  public internal(set) var ignoredServices: [String: Int] = [:]
  /// Until when it may be relied on: its own ends and those of its signer's path. Nil unless it is accepted.
  public internal(set) var validUntil: Timestamp?
  /// What is to be remembered of an accepted list, durably, and given to the next evaluation.
  public internal(set) var accepted: AcceptedListMark?

  public var isAccepted: Bool { accepted != nil }
}

public typealias VICALEvaluation = TrustListEvaluation<VICAL>
public typealias TrustedEntityListEvaluation = TrustListEvaluation<TrustedEntityList>

/// By what a list that was accepted is known again, and told from an older one.
public struct AcceptedListMark: Sendable, Hashable {
  public let issued: Timestamp
  /// The list's own number, where it has one.
  public let number: UInt64?
  /// SHA-256 of what was signed.
  public let digest: [UInt8]

  public init(issued: Timestamp, number: UInt64?, digest: [UInt8]) {
    self.issued = issued
    self.number = number
    self.digest = digest
  }
}

/// A certificate of an entity's revocation service: an authority or the signer itself.
public struct StatusListSigner: Sendable {
  public let certificate: Certificate
  /// The certificates of the same entity's issuance services: whose documents' status it may speak of.
  public let issuers: [Certificate]
}

/// One reading of a published list, whatever its format: what it makes trusted, and what to remember of it.
struct TrustListOutcome {
  let checks: [Check]
  /// Each trusted no longer than the list.
  let anchors: [TrustAnchor]
  /// Entries that can't be used.
  let leftOut: Int
  let validUntil: Timestamp?
  /// Nil where the list is refused.
  let accepted: AcceptedListFolder.Accepted?

  init(
    _ bytes: [UInt8], as format: PublishedTrustList.Format, after last: AcceptedListFolder.Accepted?,
    at now: Timestamp
  ) {
    switch format {
    case .vical(let source):
      let evaluation = VICALVerifier(source: source).evaluate(bytes, at: now, after: last?.mark)
      self.init(evaluation, of: bytes, leftOut: evaluation.list?.contents.leftOut ?? 0)
    case .trustedEntities(let source):
      let evaluation = TrustedEntityListVerifier(source: source).evaluate(bytes, at: now, after: last?.mark)
      self.init(evaluation, of: bytes, leftOut: evaluation.list?.leftOut ?? 0)
    }
  }

  private init<List>(_ evaluation: TrustListEvaluation<List>, of bytes: [UInt8], leftOut: Int) {
    checks = evaluation.checks
    self.leftOut = leftOut
    validUntil = evaluation.validUntil
    accepted = evaluation.accepted.map { .init(bytes: bytes, mark: $0) }
    anchors = evaluation.anchors.map { anchor in
      var anchor = anchor
      anchor.trustedUntil = evaluation.validUntil
      anchor.statusSigners = evaluation.statusListSigners.filter { signer in
        signer.issuers.contains { $0.der == anchor.certificate.der }
      }.map(\.certificate)
      return anchor
    }
  }

  func report(_ name: String, _ outcome: SourceReport.Outcome, _ checks: [Check]) -> SourceReport {
    SourceReport(
      name: name, outcome: outcome, anchorCount: anchors.count, leftOut: leftOut, checks: checks, validUntil: validUntil
    )
  }
}
