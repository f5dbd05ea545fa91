import Base
import PKIX

/// The result of evaluating one signed list of trust anchors.
public struct TrustListEvaluation<List: Sendable>: Sendable {
  public let checks: [Check]
  /// The list; nil unless its signature verified and its form is right. `isAccepted` says whether it is in force.
  public internal(set) var list: List?
  /// The path from the list's signer, which comes first, up to the configured anchor; empty if there is no such
  /// path.
  public internal(set) var signerPath: [Certificate] = []
  /// The anchors that the list makes trusted, each for the document types of its entries; empty unless it is accepted.
  ///
  /// An anchor ends a path and is never a link within one: a listed authority vouches only for signers that it
  /// certifies itself.
  public internal(set) var anchors: [TrustAnchor] = []
  /// Who may sign status lists; empty unless the list is accepted, and always for a VICAL.
  public internal(set) var statusListSigners: [StatusListSigner] = []
  /// The number of services of each type that is not configured; services without a type are under the empty text. A
  /// VICAL has none.
  public internal(set) var ignoredServices: [String: Int] = [:]
  /// The last instant at which the list may be relied on: the earliest of its own ends and those of its signer's path.
  /// Nil unless it is accepted.
  public internal(set) var validUntil: Timestamp?
  /// The mark of an accepted list, to be stored durably and given to the next evaluation; nil unless it is accepted.
  public internal(set) var accepted: AcceptedListMark?

  public var isAccepted: Bool { accepted != nil }
}

/// What is remembered of an accepted list: it shows whether a later list is the same one, an older or a newer one.
public struct AcceptedListMark: Sendable, Hashable {
  public let issued: Timestamp
  /// The list's own number; nil if it has none.
  public let number: UInt64?
  /// SHA-256 of a VICAL's payload, or of a list of trusted entities as it came.
  public let digest: [UInt8]

  public init(issued: Timestamp, number: UInt64?, digest: [UInt8]) {
    self.issued = issued
    self.number = number
    self.digest = digest
  }
}

/// A certificate of an entity's revocation service. It is an authority's, or that of the signer itself.
public struct StatusListSigner: Sendable {
  public let certificate: Certificate
  /// The certificates of the same entity's issuance services. The signer may state the status of their documents only.
  public let issuers: [Certificate]
}

/// The result of reading one published list of any format: the anchors that it makes trusted, and the mark to remember
/// it by.
struct TrustListOutcome {
  let checks: [Check]
  /// The listed anchors. None is trusted longer than the list.
  let anchors: [TrustAnchor]
  /// The number of entries that can't be used.
  let leftOut: Int
  let validUntil: Timestamp?
  /// The accepted list; nil if the list is refused.
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
