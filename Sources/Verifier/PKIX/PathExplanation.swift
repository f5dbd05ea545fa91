import Base

/// Explains to which trust anchor a chain leads, and why it does not lead to other anchors. It makes nothing trusted.
public struct PathExplanation: Sendable {
  /// The result for a verifier that trusts all these anchors.
  public let evaluation: PathEvaluation
  /// The certificates that could be read, the document signer's first.
  public let chain: [Certificate]
  /// Every anchor once. The anchor at the end of the path is first.
  public let candidates: [Candidate]

  /// One anchor, and the obstacles between it and the chain.
  public struct Candidate: Sendable {
    public let anchor: TrustAnchor
    public let isChosen: Bool
    /// The obstacles; empty if a path to this anchor would be accepted.
    public let obstacles: [PathObstacle]
  }
}

extension PathValidator {
  /// - Parameter chain: as for `evaluate`; a root at its end is compared like any other certificate.
  public func explain(
    chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64
  ) -> PathExplanation {
    let evaluation = evaluate(chain: chain, docType: docType, at: now, skew: skew)
    let certificates = chain.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
    let chosen = evaluation.anchor.flatMap { chosen in anchors.firstIndex { $0.isSame(as: chosen) } }
    let candidates = anchors.enumerated().map { index, anchor in
      let single = PathValidator(
        anchors: [anchor], allowsTestCertificates: allowsTestCertificates, warnsOfPublishedKeys: warnsOfPublishedKeys,
        usages: usages
      ).evaluate(chain: chain, docType: docType, at: now, skew: skew)
      return PathExplanation.Candidate(
        anchor: anchor, isChosen: index == chosen, obstacles: obstacles(certificates, anchor, single))
    }
    return PathExplanation(
      evaluation: evaluation, chain: certificates,
      candidates: candidates.filter(\.isChosen) + candidates.filter { !$0.isChosen })
  }

  /// The reasons why the chain does not lead to the anchor. If the chain does lead to it, returns the other faults of
  /// the path.
  private func obstacles(
    _ chain: [Certificate], _ anchor: TrustAnchor, _ single: PathEvaluation
  ) -> [PathObstacle] {
    let failed = single.checks.filter { $0.outcome == .failed }
    guard single.anchor == nil, let signer = chain.first else { return failed.map(PathObstacle.check) }
    // Faults of the chain itself are obstacles for every anchor.
    let ofChain = failed.filter { ![.issuerUnknown, .nameChaining].contains($0.code) }.map(PathObstacle.check)
    if anchor.kind == .documentSigner { return ofChain + [.otherSigner] }
    // No anchor can have issued a root in the chain, but an anchor may have issued the certificate below that root.
    let links = chain.count > 1 && chain[chain.count - 1].isSelfSigned ? chain.dropLast() : chain[...]
    return ofChain + PathObstacle.betweenLink(links.last ?? signer, and: anchor.certificate)
  }
}

extension TrustAnchor {
  fileprivate func isSame(as other: TrustAnchor) -> Bool {
    certificate.sha256 == other.certificate.sha256 && kind == other.kind && source == other.source
      && docTypes == other.docTypes && trustedUntil == other.trustedUntil && maxPathLength == other.maxPathLength
  }
}

/// The reason why a chain leads to no anchor, or why its anchor does not accept it.
public struct PathObstacle: Sendable, Hashable {
  /// A stable name of the reason, or a check's code.
  public let name: String
  /// The reason as human-readable text.
  public let summary: String

  public static let ownRoot = PathObstacle(
    name: "own_root", summary: "the chain ends in its own root, which is not this anchor")
  public static let nameDiffers = PathObstacle(
    name: "name_differs", summary: "the chain's issuer name is not this anchor's name")
  public static let keyIdentifierDiffers = PathObstacle(
    name: "key_identifier_differs", summary: "the chain's authority key identifier is not this anchor's")
  public static let signatureDiffers = PathObstacle(
    name: "signature_does_not_verify", summary: "the chain's signature does not verify with this key")
  public static let otherSigner = PathObstacle(
    name: "other_signer", summary: "this anchor is a pinned document signer, but the chain has a different signer")

  /// This check fails. The chain leads to the anchor, or is unusable under every anchor.
  public static func check(_ check: Check) -> PathObstacle {
    PathObstacle(
      name: check.code.rawValue,
      summary: [check.code.entry.summary, check.detail].compactMap { $0 }.joined(separator: ": "))
  }

  fileprivate static func betweenLink(_ link: Certificate, and anchor: Certificate) -> [PathObstacle] {
    if link.isSelfSigned { return [.ownRoot] }
    let isNamed = link.issuer.der == anchor.subject.der
    var obstacles: [PathObstacle] = isNamed ? [] : [.nameDiffers]
    if !link.chainsByKeyIdentifier(to: anchor) { obstacles.append(.keyIdentifierDiffers) }
    // The signature is reported only for anchors that match the certificate's issuer by subject or key identifier.
    let isMeant = isNamed || link.namesKey(of: anchor)
    if isMeant, !link.isSigned(by: anchor) { obstacles.append(.signatureDiffers) }
    return obstacles
  }
}
