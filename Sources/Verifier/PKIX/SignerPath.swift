import Base

/// The certification path of a list's signer: the signer of a VICAL, a list of trusted entities or a status list.
///
/// It ends in an anchor that is configured for that list, or that comes with the reference to the list; never in a
/// certificate that only the list or its chain brings. The rules are those of RFC 5280, 6.1, without clock skew.
public struct SignerPath: Sendable {
  /// The signer first, the anchor last. The signer stands alone if it is configured itself, or if no anchor was found.
  public let certificates: [Certificate]
  /// The outcome of `list.signer_untrusted`, `list.signer_profile` and `list.algorithm_unsupported`.
  public let checks: [Check]

  public var signer: Certificate? { certificates.first }
  public var isTrusted: Bool { !certificates.isEmpty && !checks.contains { $0.outcome == .failed } }

  /// The certificates that may have signed lists of one source.
  public struct Anchors: Sendable {
    /// Authorities that may certify the signers.
    public var authorities: [Certificate]
    /// Signers that are trusted by themselves.
    public var signers: [Certificate]
    /// Whether mock certificates and certificates for published keys may be trusted.
    public var allowsTestCertificates: Bool

    public init(authorities: [Certificate], signers: [Certificate] = [], allowsTestCertificates: Bool) {
      self.authorities = authorities
      self.signers = signers
      self.allowsTestCertificates = allowsTestCertificates
    }

    /// The certificates that an operator named for one source. An authority vouches for signers; any other certificate
    /// vouches only for itself.
    public init(configured certificates: [Certificate], allowsTestCertificates: Bool) {
      self.init(
        authorities: certificates.filter(\.extensions.isCA), signers: certificates.filter { !$0.extensions.isCA },
        allowsTestCertificates: allowsTestCertificates)
    }
  }

  /// - Parameters:
  ///   - chain: the signer first. A root at its end is left out: being in the chain does not make it an anchor.
  ///   - purposes: extended key usages that are accepted beside the role's own.
  public static func validate(
    chain: [Certificate], anchors: Anchors, at now: Timestamp, role: CertificateRole,
    alsoAccepting purposes: Set<String> = []
  ) -> SignerPath {
    var run = SignerPathRun(anchors: anchors, now: now, role: role, purposes: purposes)
    return run.evaluate(chain)
  }

  /// Validates the certificates of an x5chain as they were received.
  public static func validate(
    x5chain: [ArraySlice<UInt8>], anchors: Anchors, at now: Timestamp, role: CertificateRole,
    alsoAccepting purposes: Set<String> = []
  ) -> SignerPath {
    let isShort = x5chain.count <= Limits.chainCertificates
    let chain = isShort ? x5chain.compactMap { try? Certificate(der: $0) } : []
    guard chain.count == x5chain.count else {
      return unusable(isShort ? "a certificate of the chain is malformed" : "the chain is too long")
    }
    return validate(chain: chain, anchors: anchors, at: now, role: role, alsoAccepting: purposes)
  }

  static func unusable(_ detail: String) -> SignerPath {
    var checks = CheckList(expecting: 3)
    checks.failed(.listSignerUntrusted, detail)
    checks.notRun(.listSignerProfile, .listAlgorithmUnsupported)
    return SignerPath(certificates: [], checks: checks.checks)
  }
}

/// One validation.
private struct SignerPathRun {
  let anchors: SignerPath.Anchors
  let now: Timestamp
  let role: CertificateRole
  let purposes: Set<String>
  var checks = CheckList(expecting: 3)

  mutating func evaluate(_ chain: [Certificate]) -> SignerPath {
    guard let signer = chain.first else { return .unusable("there is no certificate") }
    guard chain.count <= Limits.chainCertificates else { return .unusable("the chain is too long") }
    // It passes until a failure is found: the checks below note failures alone.
    checks.passed(.listSignerUntrusted)
    let path = completePath(chain, signer: signer)
    requireTrust(path)
    checks.require(path.isVerifiable, .listAlgorithmUnsupported, path.algorithmFaults)
    checkProfile(of: signer)
    return SignerPath(certificates: path.certificates, checks: checks.checks)
  }

  // MARK: The path

  /// The signer's path to an anchor. If there is none, the path is the signer alone, and a failure is noted unless the
  /// signer is pinned.
  private mutating func completePath(_ chain: [Certificate], signer: Certificate) -> CertificationPath {
    let alone = CertificationPath([signer])
    if anchors.signers.contains(where: { $0.der == signer.der }) { return alone }
    if anchors.authorities.contains(where: { $0.der == signer.der }) {
      checks.failed(
        .listSignerUntrusted,
        "\(signer.label) is itself the anchor and has the CA flag: an authority vouches for signers and is none itself")
      return alone
    }
    let links = withoutAnchors(chain)
    guard let last = links.last, !last.isSelfSigned,
      let found = CertificationPath.anchor(of: last, among: anchors.authorities, certificate: \.self)
    else {
      checks.failed(.listSignerUntrusted, "no anchor is the issuer of \((links.last ?? signer).label)")
      return alone
    }
    return CertificationPath(links + [found.anchor], anchorHasSigned: found.hasSigned)
  }

  /// The part of the chain below the first anchor that is in it, or else below a root that is no anchor.
  private func withoutAnchors(_ chain: [Certificate]) -> [Certificate] {
    let carried = chain.dropFirst().firstIndex { link in anchors.authorities.contains { $0.der == link.der } }
    if let carried { return Array(chain[..<carried]) }
    guard chain.count > 1, let last = chain.last, last.isSelfSigned else { return chain }
    return chain.dropLast()
  }

  // MARK: Checks

  private mutating func requireTrust(_ path: CertificationPath) {
    for link in path.links {
      require(link.isNamed, "\(link.certificate.label) \(link.nameFault ?? "") \(link.issuer.label)")
      require(link.isSigned, "\(link.certificate.label) is not signed with the key of \(link.issuer.label)")
    }
    for certificate in path.certificates {
      if let fault = certificate.periodFault(at: now) {
        checks.failed(.listSignerUntrusted, "\(certificate.label) \(fault)")
      }
      if !anchors.allowsTestCertificates, let origin = certificate.testOrigin {
        checks.failed(.listSignerUntrusted, "\(certificate.label): \(origin)")
      }
    }
    for authority in path.authorities {
      let certificate = authority.certificate
      require(authority.isCA && authority.hasCertifyingKey, "\(certificate.label) is no certification authority")
      require(authority.allowsLength, "\(certificate.label) allows no path of this length")
      require(
        certificate.unknownCriticalExtensions.isEmpty, "\(certificate.label) has an unknown critical extension")
    }
    let expected = role.extendedKeyUsages.union(purposes)
    for intermediate in path.intermediates {
      require(
        intermediate.unprocessedConstraints.isEmpty, "\(intermediate.label) has constraints that are not processed")
      require(
        expected.isEmpty || intermediate.mayCertify(forPurposes: expected),
        "\(intermediate.label) may not certify such signers, by its extKeyUsage")
    }
  }

  private mutating func require(_ condition: Bool, _ detail: @autoclosure () -> String) {
    if !condition { checks.failed(.listSignerUntrusted, detail()) }
  }

  /// Wrong usages and purposes reject. A missing critical flag or too long a validity only warns.
  private mutating func checkProfile(of signer: Certificate) {
    let extensions = signer.extensions
    let code = Code.listSignerProfile
    checks.require(!extensions.isCA, code, "the signer is a certification authority")
    checks.require(role.permits(extensions.keyUsage), code, "keyUsage is not that of \(role.clause)")
    let isAccepted = !purposes.isDisjoint(with: extensions.extendedKeyUsage ?? [])
    checks.require(
      isAccepted || role.permits(extendedKeyUsages: extensions.extendedKeyUsage), code,
      "extKeyUsage is not that of \(role.clause)")
    checks.require(
      signer.unknownCriticalExtensions.isEmpty, code,
      "unknown critical extensions: \(signer.unknownCriticalExtensions.sorted().joined(separator: ", "))")
    let wantCritical = [CertificateExtensions.OID.keyUsage, CertificateExtensions.OID.extendedKeyUsage]
    checks.expect(
      wantCritical.allSatisfy { !extensions.oids.contains($0) || extensions.critical.contains($0) }, code,
      "keyUsage or extKeyUsage is not critical")
    checks.expect(
      signer.validityDays <= role.longestValidityDays, code,
      "valid for \(signer.validityDays) days, at most \(role.longestValidityDays) are allowed")
  }
}
