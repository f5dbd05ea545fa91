import Base

/// The result of validating one chain.
public struct PathEvaluation: Sendable {
  /// The first certificate of the chain; nil where it could not be parsed. It is trusted only if no check failed.
  public let signer: Certificate?
  public let anchor: TrustAnchor?
  /// The document signer first, the anchor's certificate last. A signer that is itself the anchor stands alone. Empty
  /// where no anchor was found.
  public let path: [Certificate]
  public let checks: [Check]
  /// The time in which every certificate of the path is valid, the skew included. Within it the checks have the same
  /// result.
  public let window: ClosedRange<Timestamp>?

  public var isTrusted: Bool { anchor != nil && !checks.contains { $0.outcome == .failed } }
}

/// Validates a document signer's chain against trust anchors: RFC 5280, 6.1, with the rules that ISO/IEC 18013-5,
/// 9.3.3 adds.
public struct PathValidator: Sendable {
  public let anchors: [TrustAnchor]
  /// Whether mock certificates and published test roots may be trusted.
  public let allowsTestCertificates: Bool
  /// The extended key usages for a document type, of which a signer must have one, where an anchor's settings name
  /// none.
  let usages: @Sendable (String) -> Set<String>

  /// Every check of a path, in the order in which they are made.
  public static let codes: [Code] =
    [
      .chainTooLong, .certificateMalformed, .testCertificate, .issuerUnknown, .nameChaining,
      .certificateSignatureInvalid, .certificateAlgorithmUnsupported, .anchorNotCA, .anchorExpired,
      .issuerNotTrustedForDocType, .pathLengthExceeded, .certificateExpired, .certificateIsCA, .certificateKeyUsage,
      .certificateExtendedKeyUsage, .certificateCriticalExtension, .certificateConstrained,
      .certificateJurisdictionMismatch,
    ] + ProfileRule.onPaths.map(\.code) + [.profileAnchorUnscoped, .profileRootInChain]

  fileprivate let authorities: [TrustAnchor]
  private let signers: [TrustAnchor]
  /// The deviations of each authority, by its SHA-256, with one entry for each rule that paths are checked by. They are
  /// the same for all its signers.
  fileprivate let anchorProfiles: [[UInt8]: [[String]?]]

  /// - Parameter usages: extended key usages by document type; by default those that the standards have for any
  /// document.
  public init(
    anchors: [TrustAnchor], allowsTestCertificates: Bool,
    usages: @escaping @Sendable (String) -> Set<String> = { _ in CertificateRole.documentSigner.extendedKeyUsages }
  ) {
    self.anchors = anchors
    self.usages = usages
    self.allowsTestCertificates = allowsTestCertificates
    authorities = anchors.filter { $0.kind == .authority }
    anchorProfiles = Dictionary(
      authorities.map { anchor in
        let subject = ProfiledCertificate(anchor.certificate, as: .iaca, issuer: nil)
        return (anchor.certificate.sha256, ProfileRule.onPaths.map { $0.labelledDeviations(subject) })
      }, uniquingKeysWith: { first, _ in first })
    signers = anchors.filter { $0.kind == .documentSigner }
  }

  /// The anchor that is this very certificate, preferably one for the document type; nil where there is none.
  fileprivate func pinned(_ signer: Certificate, for docType: String, at now: Timestamp) -> TrustAnchor? {
    let pinned = signers.filter { $0.certificate.der == signer.der }
    let allowing = pinned.filter { $0.allows(docType) }
    return allowing.first { $0.isListed(at: now) } ?? allowing.first ?? pinned.first
  }

  /// - Parameter chain: DER certificates, the document signer first (RFC 9360 x5chain).
  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    var run = PathRun(validator: self, docType: docType, now: now, skew: skew)
    return run.evaluate(chain)
  }
}

/// One evaluation: every check is noted once, in the order of `PathValidator.codes`.
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
    let certificates = parse(chain)
    guard certificates.count == chain.count, let signer = certificates.first, let last = certificates.last else {
      return stop(signer: certificates.first, skipping: .testCertificate)
    }
    let pinned = validator.pinned(signer, for: docType, at: now)
    if let pinned, pinned.allows(docType) { return evaluate(pinned: signer, anchor: pinned) }
    var path = certificates
    let carriesAnchor = path.count > 1 && validator.authorities.contains { $0.certificate.der == last.der }
    if carriesAnchor { path.removeLast() }
    let search = findAnchor(for: path[path.count - 1])
    if let pinned, search.anchor == nil { return evaluate(pinned: signer, anchor: pinned) }
    return evaluate(path: path, search: search, signer: signer, carriesAnchor: carriesAnchor)
  }

  /// The certificates up to the first one that can't be parsed.
  private mutating func parse(_ chain: [ArraySlice<UInt8>]) -> [Certificate] {
    var certificates: [Certificate] = []
    do throws(CertificateError) {
      for der in chain { certificates.append(try Certificate(der: der)) }
      checks.require(!chain.isEmpty, .certificateMalformed)
    } catch {
      checks.failed(.certificateMalformed, "certificate \(certificates.count + 1) \(error.detail)")
    }
    return certificates
  }

  /// Evaluates a signer that is itself the anchor. The checks of its issuer are not run: the issuer is not at hand and
  /// does not matter.
  private mutating func evaluate(pinned signer: Certificate, anchor: TrustAnchor) -> PathEvaluation {
    requireLiveCertificates([signer])
    checks.passed(.issuerUnknown)
    checks.notRun(.nameChaining, .certificateSignatureInvalid)
    checks.require(signer.publicKey != nil, .certificateAlgorithmUnsupported)
    checks.notRun(.anchorNotCA)
    if anchor.isListed(at: now) { checks.notRun(.anchorExpired) } else { noteListEnded(anchor) }
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType)
    checks.notRun(.pathLengthExceeded)
    checks.require(signer.isValid(at: now, skew: skew), .certificateExpired)
    checkUsage(CertificationPath(alone: signer), anchor: anchor)
    checkProfile(of: signer, issuer: nil, anchor: anchor)
    checks.passed(.profileRootInChain)
    return PathEvaluation(
      signer: signer, anchor: anchor, path: [signer], checks: checks.checks,
      window: window([signer], listedUntil: anchor.trustedUntil))
  }

  private mutating func evaluate(
    path: [Certificate], search: AnchorSearch, signer: Certificate, carriesAnchor: Bool
  ) -> PathEvaluation {
    requireLiveCertificates(path + (search.anchor.map { [$0.certificate] } ?? []))
    checks.require(
      search.anchor != nil || search.isMisnamed, .issuerUnknown, "issuer of \(path[path.count - 1].label)")
    guard let anchor = search.anchor else {
      if search.isMisnamed { checks.failed(.nameChaining, signer.label) } else { checks.notRun(.nameChaining) }
      return stop(signer: signer, skipping: .certificateSignatureInvalid)
    }
    let complete = CertificationPath(path, to: anchor.certificate, anchorHasSigned: search.hasSigned)
    checks.require(complete.misnamed.isEmpty, .nameChaining)
    checks.require(complete.unsigned.isEmpty, .certificateSignatureInvalid)
    checks.require(complete.isVerifiable, .certificateAlgorithmUnsupported)
    checkAnchor(anchor)
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType)
    checkPathLength(complete, anchor)
    checks.require(path.allSatisfy { $0.isValid(at: now, skew: skew) }, .certificateExpired)
    checkUsage(complete, anchor: anchor)
    checkProfile(of: signer, issuer: complete.certificates[1], anchor: anchor)
    if carriesAnchor { checks.warned(.profileRootInChain) } else { checks.passed(.profileRootInChain) }
    return PathEvaluation(
      signer: signer, anchor: anchor, path: complete.certificates, checks: checks.checks,
      window: window(complete.certificates, listedUntil: anchor.trustedUntil))
  }

  // MARK: Finding the anchor

  private func findAnchor(for certificate: Certificate) -> AnchorSearch {
    // An anchor that is in the chain is no link to a further anchor.
    let named = validator.authorities.filter {
      certificate.chainsByName(to: $0.certificate) && $0.certificate.der != certificate.der
    }
    // Where the same key is anchored twice, the anchor for this document type is used.
    let allowing = named.filter { $0.allows(docType) }
    // Where a list names an authority that is also configured, the anchor that counts longer is used.
    let candidates =
      allowing.filter { $0.isListed(at: now) } + allowing.filter { !$0.isListed(at: now) }
      + named.filter { !$0.allows(docType) }
    let found = CertificationPath.issuer(of: certificate, among: candidates, \.certificate)
    if let found, found.hasSigned { return AnchorSearch(anchor: found.anchor, hasSigned: true) }
    // A certificate that its own key has signed is somebody else's root, whatever its name.
    if certificate.isSelfSigned { return AnchorSearch() }
    if let found { return AnchorSearch(anchor: found.anchor) }
    let isMisnamed = validator.authorities.contains {
      let identifier = certificate.extensions.authorityKeyIdentifier
      return identifier != nil && identifier == $0.certificate.extensions.subjectKeyIdentifier
        && $0.certificate.subject.der != certificate.issuer.der
    }
    return AnchorSearch(isMisnamed: isMisnamed)
  }

  /// The result of the search for an anchor. It keeps whether the anchor signed, which cost a signature check.
  private struct AnchorSearch {
    var anchor: TrustAnchor?
    var hasSigned = false
    var isMisnamed = false
  }

  private mutating func requireLiveCertificates(_ certificates: [Certificate]) {
    checks.require(
      validator.allowsTestCertificates || CertificationPath.testCertificates(among: certificates).isEmpty,
      .testCertificate)
  }

  // MARK: Checks

  private mutating func checkAnchor(_ anchor: TrustAnchor) {
    let certificate = anchor.certificate
    let name = certificate.label
    let mayCertify = certificate.mayCertify(asAnchor: true)
    checks.require(certificate.extensions.isCA && mayCertify, .anchorNotCA, name)
    require(certificate.isValid(at: now, skew: skew), .anchorExpired, anchor, name)
    if !anchor.isListed(at: now) { noteListEnded(anchor) }
  }

  /// Never relaxed: without a current list nobody vouches for the anchor.
  private mutating func noteListEnded(_ anchor: TrustAnchor) {
    checks.failed(.anchorExpired, "the list that names \(anchor.certificate.label) is no longer current")
  }

  /// An anchor's own limit is overridden by its settings, because Annex B gives every IACA zero and some authorities
  /// deviate.
  private mutating func checkPathLength(_ path: CertificationPath, _ anchor: TrustAnchor) {
    let intermediates = path.intermediates.count
    checks.require(
      intermediates <= anchor.maxPathLength && path.overlong(countingAnchor: false).isEmpty, .pathLengthExceeded,
      "\(intermediates) between anchor and signer")
  }

  private mutating func checkUsage(_ path: CertificationPath, anchor: TrustAnchor) {
    let signer = path.certificates[0]
    let intermediates = path.intermediates
    let rolesFit = !signer.extensions.isCA && intermediates.allSatisfy { $0.extensions.isCA }
    require(rolesFit, .certificateIsCA, anchor)
    let usagesFit =
      CertificateRole.documentSigner.permits(signer.extensions.keyUsage)
      && intermediates.allSatisfy { $0.mayCertify(asAnchor: false) }
    require(usagesFit, .certificateKeyUsage, anchor)
    checkPurposes(path, anchor: anchor)
    let all = [signer] + intermediates + [anchor.certificate]
    let unknown = Set(all.flatMap(\.unknownCriticalExtensions))
    checks.require(unknown.isEmpty, .certificateCriticalExtension, unknown.sorted().joined(separator: ", "))
    let constraints = intermediates.reduce(into: Set<String>()) { $0.formUnion($1.unprocessedConstraints) }
    checks.require(
      constraints.isEmpty, .certificateConstrained,
      constraints.sorted().map(CertificateExtensions.OID.name).joined(separator: ", "))
    if anchor.kind == .documentSigner {
      checks.notRun(.certificateJurisdictionMismatch)
    } else {
      require(signer.isInJurisdiction(of: anchor.certificate), .certificateJurisdictionMismatch, anchor)
    }
  }

  /// The extended key usages that the anchor's settings name, or else the document type's.
  private func expectedPurposes(_ anchor: TrustAnchor) -> Set<String> {
    anchor.extendedKeyUsages ?? validator.usages(docType)
  }

  private mutating func checkPurposes(_ path: CertificationPath, anchor: TrustAnchor) {
    let expected = expectedPurposes(anchor)
    let own = path.certificates[0].extensions.extendedKeyUsage
    var wrong: [String] = []
    if expected.isDisjoint(with: own ?? []) { wrong.append("the signer has \(Self.list(own))") }
    for intermediate in path.intermediates(unfitFor: expected) {
      wrong.append("\(intermediate.label) has \(Self.list(intermediate.extensions.extendedKeyUsage))")
    }
    let origin = anchor.extendedKeyUsages == nil ? "the document type's" : "by the anchor's \"ekus\""
    require(
      wrong.isEmpty, .certificateExtendedKeyUsage, anchor,
      "\(wrong.joined(separator: ", ")); expected is one of \(Self.list(expected.sorted())), \(origin)")
  }

  /// The purposes for a report, no more than a person reads: whoever makes a certificate chooses how many it has.
  private static func list(_ purposes: [String]?) -> String {
    guard let purposes, !purposes.isEmpty else { return "none" }
    let more = purposes.count > 8 ? " and \(purposes.count - 8) more" : ""
    return purposes.prefix(8).joined(separator: ", ") + more
  }

  private mutating func checkProfile(of signer: Certificate, issuer: Certificate?, anchor: TrustAnchor) {
    let subject = ProfiledCertificate(
      signer, as: .documentSigner, issuer: issuer, accepting: expectedPurposes(anchor))
    let ofAnchor = anchor.kind == .authority ? validator.anchorProfiles[anchor.certificate.sha256] : nil
    for (index, rule) in ProfileRule.onPaths.enumerated() {
      let results = [rule.labelledDeviations(subject), ofAnchor?[index]].compactMap { $0 }
      if results.isEmpty { checks.notRun(rule.code) }
      for deviations in results { checks.expect(deviations.isEmpty, rule.code, deviations.joined(separator: "; ")) }
    }
    checks.expect(anchor.docTypes != nil, .profileAnchorUnscoped)
  }

  /// Requires a security check, which this anchor's settings may have turned into a warning.
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

  private func window(
    _ certificates: [Certificate], listedUntil: Timestamp? = nil
  ) -> ClosedRange<Timestamp>? {
    guard let from = certificates.map({ $0.validity.lowerBound }).max(),
      let until = certificates.map({ $0.validity.upperBound }).min(), from - skew <= until + skew
    else { return nil }
    let end = min(until + skew, listedUntil ?? until + skew)
    return from - skew <= end ? (from - skew)...end : nil
  }

  // MARK: Results

  /// Ends the evaluation where nothing more can be checked; the other checks are noted as `not_run`.
  private mutating func stop(signer: Certificate?, skipping first: Code) -> PathEvaluation {
    let rest = PathValidator.codes.drop { $0 != first }
    for code in rest { checks.notRun(code) }
    return PathEvaluation(signer: signer, anchor: nil, path: [], checks: checks.checks, window: nil)
  }
}
