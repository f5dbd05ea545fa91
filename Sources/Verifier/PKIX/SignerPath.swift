import Base

/// The certification path of a list's signer: the signer of a VICAL, a list of trusted entities or a status list.
///
/// The path ends in an anchor that is configured for the list or comes with the reference to the list. It never ends in
/// a certificate that only the list contains. The rules are in RFC 5280, 6.1. No clock skew is allowed.
public struct SignerPath: Sendable {
  /// The signer first, the anchor last. If the signer is itself configured, or no anchor was found, it contains only
  /// the signer.
  public let certificates: [Certificate]
  /// The outcomes of `list.signer_untrusted`, `list.signer_profile` and `list.algorithm_unsupported`.
  public let checks: [Check]

  public var signer: Certificate? { certificates.first }
  public var isTrusted: Bool { !certificates.isEmpty && !checks.contains { $0.outcome == .failed } }

  /// The certificates that may have signed lists of one source.
  public struct Anchors: Sendable {
    /// Authorities that may certify the signers.
    public var authorities: [Certificate]
    /// Signers that are trusted directly.
    public var signers: [Certificate]
    /// Whether mock certificates and certificates for published keys may be trusted.
    public var allowsTestCertificates: Bool

    public init(authorities: [Certificate], signers: [Certificate] = [], allowsTestCertificates: Bool) {
      self.authorities = authorities
      self.signers = signers
      self.allowsTestCertificates = allowsTestCertificates
    }

    /// An operator's certificates. An authority vouches for signers, any other certificate only for itself.
    public init(configured certificates: [Certificate], allowsTestCertificates: Bool) {
      self.init(
        authorities: certificates.filter(\.extensions.isCA), signers: certificates.filter { !$0.extensions.isCA },
        allowsTestCertificates: allowsTestCertificates)
    }
  }

  /// - Parameters:
  ///   - chain: the signer first. A root at the end is ignored: its presence in the chain does not make it an anchor.
  ///   - purposes: extended key usages that are accepted besides the role's own.
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

private struct SignerPathRun {
  let anchors: SignerPath.Anchors
  let now: Timestamp
  let role: CertificateRole
  let purposes: Set<String>
  var checks = CheckList(expecting: 3)

  mutating func evaluate(_ chain: [Certificate]) -> SignerPath {
    guard let signer = chain.first else { return .unusable("there is no certificate") }
    guard chain.count <= Limits.chainCertificates else { return .unusable("the chain is too long") }
    // The checks below record only failures.
    checks.passed(.listSignerUntrusted)
    let path = completePath(chain, signer: signer)
    requireTrust(path)
    checks.require(.listAlgorithmUnsupported, without: path.algorithmFaults)
    checkProfile(of: signer)
    return SignerPath(certificates: path.certificates, checks: checks.checks)
  }

  /// Finds the signer's path to an anchor. Without an anchor, the path contains only the signer. This is a failure,
  /// unless the signer is pinned.
  private mutating func completePath(_ chain: [Certificate], signer: Certificate) -> CertificationPath {
    let pinned = CertificationPath([signer])
    if anchors.signers.contains(where: { $0.der == signer.der }) { return pinned }
    if anchors.authorities.contains(where: { $0.der == signer.der }) {
      checks.failed(
        .listSignerUntrusted,
        "\(signer.label) is an anchor with the CA flag: an authority may certify list signers but not sign lists "
          + "itself")
      return pinned
    }
    let links = withoutAnchors(chain)
    guard let last = links.last, !last.isSelfSigned,
      let found = CertificationPath.anchor(of: last, among: anchors.authorities, certificate: \.self)
    else {
      checks.failed(.listSignerUntrusted, "no anchor is the issuer of \((links.last ?? signer).label)")
      return pinned
    }
    return CertificationPath(links + [found.anchor], anchorHasSigned: found.hasSigned)
  }

  /// The part of the chain below its first anchor. Without an anchor, the part below a root that is not an anchor.
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
      require(authority.isCA && authority.hasCertifyingKey, "\(certificate.label) is not a certification authority")
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

  /// Checks the signer's profile. Wrong usages and purposes are failures. A missing critical flag or an excessive
  /// validity period is only a warning.
  private mutating func checkProfile(of signer: Certificate) {
    let extensions = signer.extensions
    let code = Code.listSignerProfile
    checks.require(!extensions.isCA, code, "the signer is a certification authority")
    checks.require(role.permits(extensions.keyUsage), code, "keyUsage does not match \(role.clause)")
    let isAccepted = !purposes.isDisjoint(with: extensions.extendedKeyUsage ?? [])
    checks.require(
      isAccepted || role.permits(extendedKeyUsages: extensions.extendedKeyUsage), code,
      "extKeyUsage does not match \(role.clause)")
    let unknown = signer.unknownCriticalExtensions
    checks.require(unknown.isEmpty, code, "unknown critical extensions: \(unknown.sorted().joined(separator: ", "))")
    let usages: Set = [CertificateExtensions.OID.keyUsage, CertificateExtensions.OID.extendedKeyUsage]
    checks.expect(
      usages.intersection(extensions.oids).isSubset(of: extensions.critical), code,
      "keyUsage or extKeyUsage is not critical")
    checks.expect(
      signer.validityDays <= role.longestValidityDays, code,
      "valid for \(signer.validityDays) days; at most \(role.longestValidityDays) are allowed")
  }
}

extension Code {
  package static let lists = "\(iso), C.1; ETSI TS 119 602, 6"

  public static let listSignerUntrusted = Code(
    "list.signer_untrusted", "The list's signer does not lead to one of the anchors configured for this list", lists,
    "If a certificate has expired, get today's list. Otherwise compare the configured signer anchors with those that "
      + "the list's provider publishes.",
    passes: "The list's signer leads to a configured anchor", cases: "V01")
  public static let listSignerProfile = Code(
    "list.signer_profile", "The list's signer is not certified for signing such lists", lists, .list,
    passes: "The signer's certificate is as its profile prescribes", cases: "V01")
  public static let listAlgorithmUnsupported = Code(
    "list.algorithm_unsupported", "The list's signature algorithm is not allowed, or does not fit the signer's key",
    lists, .list, passes: "The list's algorithm is allowed", cases: "V01")
}

extension Code.Remedy {
  package static let list: Self =
    "Report it to the list's provider; the last accepted list stays in force while it is current."
}
