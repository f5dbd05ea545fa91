import Base

/// A certification path, the signer first and the anchor last, and the rules of RFC 5280, 6.1 about it.
///
/// Each rule gives the certificates that break it. The callers have a policy each: which codes the faults have, what an
/// anchor's settings may relax, and whether clocks may differ. `PathValidator` has the policy for document signers,
/// `SignerPath` the one for lists' signers.
struct CertificationPath {
  let certificates: [Certificate]
  /// Whether the anchor's key has signed the certificate before it: what the search for the anchor found out.
  private let anchorHasSigned: Bool

  /// A signer that is itself configured, or for which no anchor was found.
  init(alone signer: Certificate) {
    certificates = [signer]
    anchorHasSigned = false
  }

  init(_ links: [Certificate], to anchor: Certificate, anchorHasSigned: Bool) {
    certificates = links + [anchor]
    self.anchorHasSigned = anchorHasSigned
  }

  /// The anchor whose key signed the certificate; failing that, the first that is its issuer by name, so that the
  /// signature check can say what is wrong.
  ///
  /// - Parameter candidates: anchors that are the certificate's issuer by name, the preferred ones first.
  static func issuer<Candidate>(
    of certificate: Certificate, among candidates: [Candidate], _ subject: (Candidate) -> Certificate
  ) -> (anchor: Candidate, hasSigned: Bool)? {
    if let signer = candidates.first(where: { certificate.isSigned(by: subject($0)) }) { return (signer, true) }
    return candidates.first.map { ($0, false) }
  }

  /// The certification authorities between signer and anchor.
  var intermediates: ArraySlice<Certificate> { certificates.dropFirst().dropLast() }

  // MARK: Rules

  /// Certificates that do not name the next one as their issuer.
  var misnamed: [Certificate] {
    zip(certificates, certificates.dropFirst()).filter { !$0.chainsByName(to: $1) }.map(\.0)
  }

  /// Certificates that the next one's key has not signed, as far as the algorithms are supported. Lazy, and the anchor's
  /// signature first, which is known: a chain with many wrong signatures costs no more than one with a single one.
  var unsigned: some Collection<Certificate> {
    certificates.indices.dropLast().reversed().lazy.filter { index in
      let certificate = certificates[index]
      let issuer = certificates[index + 1]
      let isSigned = index + 2 == certificates.count ? anchorHasSigned : certificate.isSigned(by: issuer)
      return !isSigned && certificate.isVerifiable(by: issuer)
    }.map { certificates[$0] }
  }

  /// Whether every signature, and those that the signer makes, are of supported algorithms.
  var isVerifiable: Bool {
    zip(certificates, certificates.dropFirst()).allSatisfy { $0.isVerifiable(by: $1) }
      && certificates.first?.publicKey != nil
  }

  /// Mock certificates and published test roots.
  static func testCertificates(among certificates: [Certificate]) -> [Certificate] {
    certificates.filter { $0.isMock || PublishedTestRoots.contains($0) }
  }

  /// Authorities with more intermediates below them than their pathLenConstraint allows (RFC 5280, 4.2.1.9).
  ///
  /// - Parameter countsAnchor: whether the anchor's own limit counts. It does not where the anchor's settings have one.
  func overlong(countingAnchor countsAnchor: Bool) -> [Certificate] {
    let authorities = certificates.dropFirst().dropLast(countsAnchor ? 0 : 1)
    return authorities.enumerated().filter { below, authority in
      authority.extensions.pathLength.map { below > $0 } ?? false
    }.map(\.element)
  }

  /// Intermediates that may not certify signers for one of the purposes.
  func intermediates(unfitFor purposes: Set<String>) -> [Certificate] {
    intermediates.filter { !$0.mayCertify(forPurposes: purposes) }
  }
}

extension Certificate {
  /// Whether keyUsage allows it to sign certificates. Only an anchor may lack the extension: the configuration then says
  /// what it may do.
  func mayCertify(asAnchor isAnchor: Bool) -> Bool {
    extensions.keyUsage.map { $0.contains(.keyCertSign) } ?? isAnchor
  }

  /// Whether it is valid at the instant, for clocks that differ by `skew` seconds at most.
  func isValid(at now: Timestamp, skew: Int64 = 0) -> Bool {
    validity.lowerBound - skew <= now && now <= validity.upperBound + skew
  }
}
