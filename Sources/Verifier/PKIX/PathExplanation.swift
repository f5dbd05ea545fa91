import Base

/// Explains which trust anchor a chain leads to, and why it does not lead to the others.
///
/// It tells how a verifier would decide about the chain and makes nothing trusted: no document, and no signature over
/// one, is looked at.
public struct PathExplanation: Sendable {
  /// The result of a verifier that has all these anchors.
  public let evaluation: PathEvaluation
  /// The certificates that could be read, the document signer's first.
  public let chain: [Certificate]
  /// Every anchor once, the one that the path ends in first.
  public let candidates: [Candidate]

  /// One anchor, and the obstacles between the chain and it.
  public struct Candidate: Sendable {
    public let anchor: TrustAnchor
    public let isChosen: Bool
    /// The obstacles; empty if a path to this anchor would be accepted.
    public let obstacles: [PathObstacle]
  }
}

extension PathValidator {
  /// - Parameters:
  ///   - chain: as for `evaluate`; it may end in a root, which is then compared like any other certificate.
  public func explain(
    chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64
  ) -> PathExplanation {
    let evaluation = evaluate(chain: chain, docType: docType, at: now, skew: skew)
    let certificates = chain.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
    let chosen = evaluation.anchor.flatMap { chosen in anchors.firstIndex { $0.isSame(as: chosen) } }
    let candidates = anchors.enumerated().map { index, anchor in
      let alone = PathValidator(
        anchors: [anchor], allowsTestCertificates: allowsTestCertificates, warnsOfPublishedKeys: warnsOfPublishedKeys,
        usages: usages
      ).evaluate(chain: chain, docType: docType, at: now, skew: skew)
      return PathExplanation.Candidate(
        anchor: anchor, isChosen: index == chosen, obstacles: obstacles(certificates, anchor, alone))
    }
    return PathExplanation(
      evaluation: evaluation, chain: certificates,
      candidates: candidates.filter(\.isChosen) + candidates.filter { !$0.isChosen })
  }

  /// Why the chain does not lead to the anchor; if it does lead there, the other faults of the path.
  private func obstacles(
    _ chain: [Certificate], _ anchor: TrustAnchor, _ alone: PathEvaluation
  ) -> [PathObstacle] {
    let failed = alone.checks.filter { $0.outcome == .failed }
    guard alone.anchor == nil, let signer = chain.first else { return failed.map(PathObstacle.check) }
    // Faults of the chain itself count under every anchor.
    let ofChain = failed.filter { ![.issuerUnknown, .nameChaining].contains($0.code) }.map(PathObstacle.check)
    if anchor.kind == .documentSigner { return ofChain + [.otherSigner] }
    // A root in the chain is its own issuer, so no anchor can have issued it. An anchor may still have issued the
    // certificate below it.
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

/// Why a chain does not lead to an anchor, or is not accepted under it.
public enum PathObstacle: Sendable, Hashable {
  /// The last certificate of the chain is its own issuer and is not this anchor.
  case ownRoot
  /// The issuer that the chain's last certificate names is not the anchor's subject.
  case nameDiffers
  /// Its authority key identifier is not the anchor's subject key identifier.
  case keyIdentifierDiffers
  /// Its signature does not verify with the anchor's key, or can't be checked with it.
  case signatureDiffers
  /// The anchor is one document signer, and not this one.
  case otherSigner
  /// The chain leads to the anchor, or is unusable under any, and this check fails.
  case check(Check)

  /// A stable name of the reason. If the reason is a check, this is the check's code.
  public var name: String {
    switch self {
    case .ownRoot: "own_root"
    case .nameDiffers: "name_differs"
    case .keyIdentifierDiffers: "key_identifier_differs"
    case .signatureDiffers: "signature_does_not_verify"
    case .otherSigner: "other_signer"
    case .check(let check): check.code.rawValue
    }
  }

  /// The reason as text for people.
  public var summary: String {
    switch self {
    case .ownRoot: "the chain is a root of its own, and not this certificate"
    case .nameDiffers: "the issuer named by the chain has another name"
    case .keyIdentifierDiffers: "the issuer named by the chain has another key, by its key identifier"
    case .signatureDiffers: "the chain's signature does not verify with this key"
    case .otherSigner: "this one document signer is trusted, and the chain's is another"
    case .check(let check): [check.code.entry.summary, check.detail].compactMap { $0 }.joined(separator: ": ")
    }
  }

  fileprivate static func betweenLink(_ link: Certificate, and anchor: Certificate) -> [PathObstacle] {
    if link.isSelfSigned { return [.ownRoot] }
    var obstacles: [PathObstacle] = []
    let isNamed = link.issuer.der == anchor.subject.der
    if !isNamed { obstacles.append(.nameDiffers) }
    if !link.chainsByKeyIdentifier(to: anchor) { obstacles.append(.keyIdentifierDiffers) }
    // The signature is only reported for an anchor that the certificate names, by subject or by key identifier.
    let isMeant = isNamed || link.namesKey(of: anchor)
    if isMeant, !link.isSigned(by: anchor) { obstacles.append(.signatureDiffers) }
    return obstacles
  }
}
