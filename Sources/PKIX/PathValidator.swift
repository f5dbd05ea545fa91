import Primitives

/// What validating one chain came to.
public struct PathEvaluation: Sendable {
  /// The first certificate of the chain, where it could be parsed: trusted only if no check failed.
  public let signer: Certificate?
  public let anchor: TrustAnchor?
  public let checks: [Check]
  /// When every certificate of the path is valid, the skew included. Inside this window the checks come out the same.
  public let window: ClosedRange<Timestamp>?

  public var isTrusted: Bool { anchor != nil && !checks.contains { $0.outcome == .failed } }
}

/// Validates a document signer's chain against trust anchors: RFC 5280, 6.1, with the rules that ISO/IEC 18013-5,
/// 9.3.3 adds.
public struct PathValidator: Sendable {
  public let anchors: [TrustAnchor]
  /// Whether mock certificates and published test roots may be trusted.
  public let allowsTestCertificates: Bool

  public init(anchors: [TrustAnchor], allowsTestCertificates: Bool) {
    self.anchors = anchors
    self.allowsTestCertificates = allowsTestCertificates
  }

  /// - Parameter chain: DER certificates, the document signer first (RFC 9360 x5chain).
  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    var run = PathRun(validator: self, docType: docType, now: now, skew: skew)
    return run.evaluate(chain)
  }
}

/// One evaluation: every check is noted once, in the order of the registry.
private struct PathRun {
  let validator: PathValidator
  let docType: String
  let now: Timestamp
  let skew: Int64
  var checks = CheckList()

  mutating func evaluate(_ chain: [ArraySlice<UInt8>]) -> PathEvaluation {
    let isShort =
      chain.count <= Limits.chainCertificates && chain.allSatisfy { $0.count <= Limits.certificateBytes }
    checks.require(isShort, .chainTooLong)
    guard isShort else { return stop(signer: nil, skipping: .certificateMalformed) }
    let parsed = chain.map { try? Certificate(der: $0) }
    let certificates = parsed.compactMap { $0 }
    checks.require(!chain.isEmpty && certificates.count == chain.count, .certificateMalformed)
    guard certificates.count == chain.count, let signer = certificates.first, let last = certificates.last else {
      return stop(signer: parsed.first ?? nil, skipping: .testCertificate)
    }
    var path = certificates
    let carriesAnchor = path.count > 1 && validator.anchors.contains { $0.certificate.der == last.der }
    if carriesAnchor { path.removeLast() }
    return evaluate(path: path, signer: signer, carriesAnchor: carriesAnchor)
  }

  private mutating func evaluate(path: [Certificate], signer: Certificate, carriesAnchor: Bool) -> PathEvaluation {
    let search = findAnchor(for: path[path.count - 1])
    requireLiveCertificates(path + (search.anchor.map { [$0.certificate] } ?? []))
    checks.require(
      search.anchor != nil || search.isMisnamed, .issuerUnknown, "issuer of \(label(path[path.count - 1]))")
    guard let anchor = search.anchor else {
      if search.isMisnamed { checks.failed(.nameChaining, label(signer)) } else { checks.notRun(.nameChaining) }
      return stop(signer: signer, skipping: .certificateSignatureInvalid)
    }
    let issuers = path.dropFirst() + [anchor.certificate]
    checks.require(zip(path, issuers).allSatisfy(namesChain), .nameChaining)
    checks.require(isSigned(path, search), .certificateSignatureInvalid)
    checks.require(
      zip(path, issuers).allSatisfy(isSupported) && signer.publicKey != nil,
      .certificateAlgorithmUnsupported)
    checkAnchor(anchor)
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType)
    checkPathLength(path, anchor)
    checks.require(path.allSatisfy { isCurrent($0) }, .certificateExpired)
    checkUsage(of: signer, intermediates: path.dropFirst(), anchor: anchor)
    checkProfile(of: signer, anchor: anchor)
    if carriesAnchor { checks.warned(.profileRootInChain) } else { checks.passed(.profileRootInChain) }
    return PathEvaluation(
      signer: signer, anchor: anchor, checks: checks.checks, window: window(path + [anchor.certificate]))
  }

  // MARK: Finding the anchor

  /// The anchor whose key signed the certificate; failing that, one whose name and key identifier fit, so that the
  /// signature check can say what is wrong.
  private func findAnchor(for certificate: Certificate) -> AnchorSearch {
    // A self-issued certificate that is no anchor is a root of somebody else's, whatever it is called.
    if certificate.isSelfIssued { return AnchorSearch() }
    let named = validator.anchors.filter {
      $0.certificate.subject.der == certificate.issuer.der && keyIdentifiersChain(certificate, $0.certificate)
    }
    // Where one key is anchored twice, the anchor for this document type is the one meant.
    let candidates = named.filter { $0.allows(docType) } + named.filter { !$0.allows(docType) }
    if let anchor = candidates.first(where: { certificate.isSigned(by: $0.certificate) }) {
      return AnchorSearch(anchor: anchor, hasSigned: true)
    }
    if let anchor = candidates.first { return AnchorSearch(anchor: anchor) }
    let isMisnamed = validator.anchors.contains {
      let identifier = certificate.extensions.authorityKeyIdentifier
      return identifier != nil && identifier == $0.certificate.extensions.subjectKeyIdentifier
        && $0.certificate.subject.der != certificate.issuer.der
    }
    return AnchorSearch(isMisnamed: isMisnamed)
  }

  /// What the search for an anchor came to. Whether the anchor signed is remembered: it is a signature check.
  private struct AnchorSearch {
    var anchor: TrustAnchor?
    var hasSigned = false
    var isMisnamed = false
  }

  /// Every certificate is signed by the next, the last by the anchor, as far as the algorithms are known.
  private func isSigned(_ path: [Certificate], _ search: AnchorSearch) -> Bool {
    guard let last = path.last, let anchor = search.anchor else { return false }
    return (search.hasSigned || !isSupported(last, by: anchor.certificate))
      && zip(path, path.dropFirst()).allSatisfy { $0.isSigned(by: $1) || !isSupported($0, by: $1) }
  }

  private func namesChain(_ certificate: Certificate, _ issuer: Certificate) -> Bool {
    certificate.issuer.der == issuer.subject.der && keyIdentifiersChain(certificate, issuer)
  }

  private func keyIdentifiersChain(_ certificate: Certificate, _ issuer: Certificate) -> Bool {
    guard let authority = certificate.extensions.authorityKeyIdentifier,
      let subject = issuer.extensions.subjectKeyIdentifier
    else { return true }
    return authority == subject
  }

  private func isSupported(_ certificate: Certificate, by issuer: Certificate) -> Bool {
    certificate.hasSupportedSignatureAlgorithm && issuer.publicKey != nil
  }

  private mutating func requireLiveCertificates(_ certificates: [Certificate]) {
    let isTest = certificates.contains { $0.isMock || PublishedTestRoots.contains($0) }
    checks.require(validator.allowsTestCertificates || !isTest, .testCertificate)
  }

  // MARK: Checks

  private mutating func checkAnchor(_ anchor: TrustAnchor) {
    let certificate = anchor.certificate
    let mayCertify = certificate.extensions.keyUsage?.contains(.keyCertSign) ?? true
    let name = label(certificate)
    checks.require(certificate.extensions.isCA && mayCertify, .anchorNotCA, name)
    require(isCurrent(certificate), .anchorExpired, anchor, name)
  }

  private mutating func checkPathLength(_ path: [Certificate], _ anchor: TrustAnchor) {
    let intermediates = path.count - 1
    var isWithin = intermediates <= anchor.maxPathLength
    // Each CA's own limit counts the intermediates below it. An anchor's is overridden by its settings, because Annex B
    // gives every IACA zero and some authorities deviate.
    for (below, certificate) in path.dropFirst().enumerated() {
      if let limit = certificate.extensions.pathLength, below > limit { isWithin = false }
    }
    checks.require(isWithin, .pathLengthExceeded, "\(intermediates) between anchor and signer")
  }

  private mutating func checkUsage(of signer: Certificate, intermediates: ArraySlice<Certificate>, anchor: TrustAnchor)
  {
    let rolesFit = !signer.extensions.isCA && intermediates.allSatisfy { $0.extensions.isCA }
    checks.require(rolesFit, .certificateIsCA)
    let usage = signer.extensions.keyUsage ?? []
    let usagesFit =
      usage.contains(.digitalSignature) && usage.isDisjoint(with: [.keyCertSign, .cRLSign])
      && intermediates.allSatisfy { $0.extensions.keyUsage?.contains(.keyCertSign) ?? false }
    require(usagesFit, .certificateKeyUsage, anchor)
    let purposes = Set(signer.extensions.extendedKeyUsage ?? [])
    require(!purposes.isDisjoint(with: anchor.extendedKeyUsages), .certificateExtendedKeyUsage, anchor)
    let all = [signer] + intermediates + [anchor.certificate]
    let unknown = all.flatMap { $0.extensions.critical.subtracting(CertificateExtensions.processed) }
    checks.require(unknown.isEmpty, .certificateCriticalExtension, unknown.sorted().joined(separator: ", "))
    require(isInJurisdiction(signer, of: anchor.certificate), .certificateJurisdictionMismatch, anchor)
  }

  /// Country and state agree where both certificates name them; an absent one is a finding of the profile.
  private func isInJurisdiction(_ signer: Certificate, of anchor: Certificate) -> Bool {
    func agree(_ left: String?, _ right: String?) -> Bool {
      guard let left, let right else { return true }
      return left.hasSameBytes(as: right)
    }
    return agree(signer.subject.country, anchor.subject.country)
      && agree(signer.subject.stateOrProvince, anchor.subject.stateOrProvince)
  }

  private mutating func checkProfile(of signer: Certificate, anchor: TrustAnchor) {
    let root = anchor.certificate
    let wantCritical: [(Certificate, String)] = [
      (signer, CertificateExtensions.OID.keyUsage), (signer, CertificateExtensions.OID.extendedKeyUsage),
      (root, CertificateExtensions.OID.basicConstraints), (root, CertificateExtensions.OID.keyUsage),
    ]
    checks.expect(
      wantCritical.allSatisfy { !$0.extensions.oids.contains($1) || $0.extensions.critical.contains($1) },
      .profileCriticality)
    checks.expect(lifetime(signer) <= 457 && lifetime(root) <= 20 * 366, .profileLifetime)
    checks.expect(signer.subject.country != nil && root.subject.country != nil, .profileCountryMissing)
    checks.expect(
      signer.extensions.authorityKeyIdentifier != nil && signer.extensions.subjectKeyIdentifier != nil
        && root.extensions.subjectKeyIdentifier != nil, .profileKeyIdentifiers)
    checks.expect([signer, root].allSatisfy { $0.serialNumber.count >= 8 }, .profileSerialNumber)
    checks.expect(
      [signer, root].allSatisfy { $0.extensions.oids.contains(CertificateExtensions.OID.issuerAltName) },
      .profileIssuerAltName)
    checks.expect(!signer.extensions.crlURIs.isEmpty, .profileRevocationSource)
    checks.expect(
      [signer, root].allSatisfy { $0.extensions.oids.isDisjoint(with: CertificateExtensions.forbidden) },
      .profileForbiddenExtension)
    checks.expect(anchor.docTypes != nil, .profileAnchorUnscoped)
  }

  /// A security check that this anchor's settings may have turned into a warning.
  private mutating func require(_ condition: Bool, _ code: Code, _ anchor: TrustAnchor, _ detail: String? = nil) {
    if condition {
      checks.passed(code)
    } else if anchor.relaxed.contains(code) {
      checks.warned(code, "relaxed for this anchor")
    } else {
      checks.failed(code, detail)
    }
  }

  // MARK: Time

  private func isCurrent(_ certificate: Certificate) -> Bool { window([certificate]).map { $0.contains(now) } ?? false }

  private func window(_ certificates: [Certificate]) -> ClosedRange<Timestamp>? {
    guard let from = certificates.map({ $0.validity.lowerBound }).max(),
      let until = certificates.map({ $0.validity.upperBound }).min(), from - skew <= until + skew
    else { return nil }
    return (from - skew)...(until + skew)
  }

  /// Whole days of validity, rounded up.
  private func lifetime(_ certificate: Certificate) -> Int64 {
    let seconds =
      certificate.validity.upperBound.secondsSince1970 - certificate.validity.lowerBound.secondsSince1970
    return (seconds + 86_399) / 86_400
  }

  // MARK: Results

  /// Ends where nothing more can be checked: the rest is `not_run`.
  private mutating func stop(signer: Certificate?, skipping first: Code) -> PathEvaluation {
    let rest = Self.codes.drop { $0 != first }
    for code in rest { checks.notRun(code) }
    return PathEvaluation(signer: signer, anchor: nil, checks: checks.checks, window: nil)
  }

  private static let codes: [Code] = Code.allCases.filter {
    $0.rawValue.hasPrefix("trust.") && $0 != .trustStoreEmpty
  }
}

private func label(_ certificate: Certificate) -> String {
  "certificate \(Hex.encode(certificate.sha256.prefix(8)))"
}
