import Base

/// The result of validating one chain.
public struct PathEvaluation: Sendable {
  /// The first certificate of the chain; nil if it could not be parsed. It is trusted only if no check failed.
  public let signer: Certificate?
  public let anchor: TrustAnchor?
  /// The document signer first, the anchor's certificate last. A signer that is itself the anchor stands alone. Empty
  /// if no anchor was found.
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
  /// Whether mock certificates and certificates for published keys may be trusted.
  public let allowsTestCertificates: Bool
  /// Whether certificates for published keys only warn, as in staging. Mock certificates are then still refused.
  public let warnsOfPublishedKeys: Bool
  /// The extended key usages for a document type, for anchors whose settings name none. A signer must have one of them.
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
  fileprivate let signers: [TrustAnchor]
  /// The deviations of each authority, by its SHA-256, with one entry for each rule that paths are checked by. They are
  /// the same for all its signers.
  fileprivate let anchorProfiles: [[UInt8]: [[String]?]]

  /// - Parameter usages: extended key usages by document type; by default those that the standards have for any
  /// document.
  public init(
    anchors: [TrustAnchor], allowsTestCertificates: Bool, warnsOfPublishedKeys: Bool = false,
    usages: @escaping @Sendable (String) -> Set<String> = { _ in CertificateRole.documentSigner.extendedKeyUsages }
  ) {
    self.anchors = anchors
    self.usages = usages
    self.allowsTestCertificates = allowsTestCertificates
    self.warnsOfPublishedKeys = warnsOfPublishedKeys
    authorities = anchors.filter { $0.kind == .authority }
    anchorProfiles = Dictionary(
      authorities.map { anchor in
        let subject = ProfiledCertificate(anchor.certificate, as: .iaca, issuer: nil)
        return (anchor.certificate.sha256, ProfileRule.onPaths.map { $0.labelledDeviations(subject) })
      }, uniquingKeysWith: { first, _ in first })
    signers = anchors.filter { $0.kind == .documentSigner }
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
    checks.require(
      isShort, .chainTooLong,
      chain.count > Limits.chainCertificates
        ? "\(chain.count) certificates, at most \(Limits.chainCertificates) are read"
        : "a certificate of \(chain.map(\.count).max() ?? 0) bytes, at most \(Limits.certificateBytes) are read")
    guard isShort else { return stop(signer: nil, skipping: .certificateMalformed) }
    let certificates = parse(chain)
    guard certificates.count == chain.count, let signer = certificates.first, let last = certificates.last else {
      return stop(signer: certificates.first, skipping: .testCertificate)
    }
    let pinned = validator.signers.filter { $0.certificate.der == signer.der }.min { rank($0) < rank($1) }
    if let pinned, pinned.allows(docType) { return evaluate(pinned: signer, anchor: pinned) }
    var path = certificates
    let carriesAnchor = path.count > 1 && validator.authorities.contains { $0.certificate.der == last.der }
    if carriesAnchor { path.removeLast() }
    let search = findAnchor(for: path[path.count - 1])
    if let pinned, search.anchor == nil { return evaluate(pinned: signer, anchor: pinned) }
    return evaluate(chain: path, search: search, carriesAnchor: carriesAnchor)
  }

  /// The certificates up to the first one that can't be parsed.
  private mutating func parse(_ chain: [ArraySlice<UInt8>]) -> [Certificate] {
    var certificates: [Certificate] = []
    do throws(CertificateError) {
      for der in chain { certificates.append(try Certificate(der: der)) }
      checks.require(!chain.isEmpty, .certificateMalformed, "the chain is empty")
    } catch {
      checks.failed(.certificateMalformed, "certificate \(certificates.count + 1) \(error.detail)")
    }
    return certificates
  }

  /// Evaluates a signer that is itself the anchor. The checks of its issuer are not run: the issuer is not at hand and
  /// does not matter.
  private mutating func evaluate(pinned signer: Certificate, anchor: TrustAnchor) -> PathEvaluation {
    let docType = docType
    let path = CertificationPath([signer])
    requireLiveCertificates([signer])
    checks.passed(.issuerUnknown)
    checks.notRun(.nameChaining, .certificateSignatureInvalid)
    checks.require(path.isVerifiable, .certificateAlgorithmUnsupported, path.algorithmFaults)
    checks.notRun(.anchorNotCA)
    if anchor.isListed(at: now) { checks.notRun(.anchorExpired) } else { noteListEnded(anchor) }
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType, anchor.docTypeFault(docType))
    checks.notRun(.pathLengthExceeded)
    requireCurrent(path)
    return finish(path, anchor: anchor, carriesAnchor: false)
  }

  /// - Parameter chain: the certificates below the anchor.
  private mutating func evaluate(
    chain: [Certificate], search: AnchorSearch, carriesAnchor: Bool
  ) -> PathEvaluation {
    let docType = docType
    let complete = chain + (search.anchor.map { [$0.certificate] } ?? [])
    requireLiveCertificates(complete)
    let unknown = search.anchor == nil ? unknownIssuer(of: chain[chain.count - 1], chain[0]) : nil
    checks.require(search.anchor != nil || search.isMisnamed, .issuerUnknown, unknown)
    guard let anchor = search.anchor else {
      if search.isMisnamed {
        checks.failed(
          .nameChaining, "\(chain[chain.count - 1].label) has an anchor's key identifier and another issuer")
      } else {
        checks.notRun(.nameChaining)
      }
      return stop(signer: chain[0], skipping: .certificateSignatureInvalid)
    }
    let path = CertificationPath(complete, anchorHasSigned: search.hasSigned)
    checks.require(path.links.allSatisfy(\.isNamed), .nameChaining, path.linkFaults(\.nameFault))
    // The anchor's signature is known already: it comes first.
    checks.require(
      path.links.reversed().allSatisfy(\.isSigned), .certificateSignatureInvalid,
      path.linkFaults { $0.isSigned ? nil : "is not signed with the key of" })
    checks.require(path.isVerifiable, .certificateAlgorithmUnsupported, path.algorithmFaults)
    let authorities = path.authorities
    checkAnchor(anchor, authorities[authorities.count - 1])
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType, anchor.docTypeFault(docType))
    // An anchor's own limit is overridden by its settings, because Annex B gives every IACA zero and some authorities
    // deviate.
    let count = path.intermediates.count
    checks.require(
      count <= anchor.maxPathLength && authorities.dropLast().allSatisfy(\.allowsLength), .pathLengthExceeded,
      "\(count) between anchor and signer")
    requireCurrent(path)
    return finish(path, anchor: anchor, carriesAnchor: carriesAnchor)
  }

  /// The checks of what the certificates are for, and the result.
  private mutating func finish(
    _ path: CertificationPath, anchor: TrustAnchor, carriesAnchor: Bool
  ) -> PathEvaluation {
    let signer = path.certificates[0]
    checkUsage(of: signer, path, anchor)
    checkProfile(of: signer, issuer: path.links.first?.issuer, anchor: anchor)
    if carriesAnchor {
      checks.warned(.profileRootInChain, "it ends in \(anchor.certificate.label)")
    } else {
      checks.passed(.profileRootInChain)
    }
    return PathEvaluation(
      signer: signer, anchor: anchor, path: path.certificates, checks: checks.checks,
      window: window(path.certificates, listedUntil: anchor.trustedUntil))
  }

  /// What is missing. An authority that signed the document itself certifies signers and is none, unless it is pinned.
  private func unknownIssuer(of last: Certificate, _ signer: Certificate) -> String {
    guard validator.authorities.contains(where: { $0.certificate.der == signer.der }) else {
      return "no anchor is the issuer of \(last.label)"
    }
    let extensions = signer.extensions
    let usagesFit = extensions.keyUsage.map(CertificateRole.documentSigner.permits) ?? true
    let purposesFit = extensions.extendedKeyUsage.map { !validator.usages(docType).isDisjoint(with: $0) } ?? true
    let rules: [(Bool, Code)] = [
      (!extensions.isCA, .certificateIsCA), (usagesFit, .certificateKeyUsage),
      (purposesFit, .certificateExtendedKeyUsage),
    ]
    let codes = rules.filter { !$0.0 }.map { "\"\($0.1.rawValue)\"" }
    let relax = codes.isEmpty ? "" : ", \"relax\": [\(codes.joined(separator: ", "))]"
    return "\(signer.label) is an anchor and signed the document itself; to trust it as a signer, give it the settings "
      + "{\"kind\": \"document_signer\"\(relax)}"
  }

  // MARK: Finding the anchor

  /// The authority that the certificate leads to, and whether it signed.
  private func findAnchor(for certificate: Certificate) -> AnchorSearch {
    let found = CertificationPath.anchor(
      of: certificate, among: validator.authorities, certificate: \.certificate, rank: rank)
    if let found, found.hasSigned { return AnchorSearch(anchor: found.anchor, hasSigned: true) }
    // A certificate that its own key has signed is a root itself, so it has no anchor here, whatever its name.
    if certificate.isSelfSigned { return AnchorSearch() }
    if let found { return AnchorSearch(anchor: found.anchor) }
    let isMisnamed = validator.authorities.contains {
      certificate.namesKey(of: $0.certificate) && $0.certificate.subject.der != certificate.issuer.der
    }
    return AnchorSearch(isMisnamed: isMisnamed)
  }

  /// Ranks anchors that have the same certificate or key. The anchor for this document type comes first, and among
  /// several such anchors one that is configured or whose list is current.
  private func rank(_ anchor: TrustAnchor) -> Int {
    if !anchor.allows(docType) { return 2 }
    return anchor.isListed(at: now) ? 0 : 1
  }

  /// The result of the search for an anchor. It keeps whether the anchor signed, which cost a signature check.
  private struct AnchorSearch {
    var anchor: TrustAnchor?
    var hasSigned = false
    var isMisnamed = false
  }

  private mutating func requireLiveCertificates(_ certificates: [Certificate]) {
    checks.passed(.testCertificate)
    guard !validator.allowsTestCertificates else { return }
    for certificate in certificates {
      guard let origin = certificate.testOrigin else { continue }
      let isTolerated = validator.warnsOfPublishedKeys && !certificate.isMock
      let detail = "\(certificate.label): \(origin)"
      checks.append([Check(.testCertificate, isTolerated ? .warning : .failed, detail: detail)])
    }
  }

  // MARK: Checks

  private mutating func checkAnchor(_ anchor: TrustAnchor, _ authority: CertificationPath.Authority) {
    let name = anchor.certificate.label
    checks.require(
      authority.isCA && authority.hasCertifyingKey, .anchorNotCA,
      "\(name) " + (authority.isCA ? "may not sign certificates, by its keyUsage" : "has no CA flag"))
    let period = anchor.certificate.periodFault(at: now, skew: skew)
    require(period == nil, .anchorExpired, anchor, "\(name) \(period ?? "")")
    if !anchor.isListed(at: now) { noteListEnded(anchor) }
  }

  /// This check is never relaxed: without a current list, nothing vouches for the anchor.
  private mutating func noteListEnded(_ anchor: TrustAnchor) {
    checks.failed(.anchorExpired, "the list that names \(anchor.certificate.label) is no longer current")
  }

  private mutating func checkUsage(of signer: Certificate, _ path: CertificationPath, _ anchor: TrustAnchor) {
    let intermediates = path.authorities.dropLast()
    require(
      !signer.extensions.isCA && intermediates.allSatisfy(\.isCA), .certificateIsCA, anchor,
      path.faults { index, certificate in
        let isCA = certificate.extensions.isCA
        if index == 0 { return isCA ? "has the CA flag" : nil }
        return isCA || index == path.links.count ? nil : "has no CA flag"
      })
    if anchor.kind == .documentSigner, signer.extensions.keyUsage == nil {
      checks.warned(.certificateKeyUsage, "the signer has none")
    } else {
      let usagesFit =
        CertificateRole.documentSigner.permits(signer.extensions.keyUsage)
        && intermediates.allSatisfy(\.hasCertifyingKey)
      require(
        usagesFit, .certificateKeyUsage, anchor,
        path.faults { index, certificate in
          let usage = certificate.extensions.keyUsage
          let fits =
            index == 0
            ? CertificateRole.documentSigner.permits(usage)
            : index == path.links.count || path.authorities[index - 1].hasCertifyingKey
          return fits ? nil : "has \(usage.map { $0.names.joined(separator: ", ") } ?? "no keyUsage")"
        })
    }
    checkPurposes(of: signer, path: path, anchor: anchor)
    let unknown = Set(path.certificates.flatMap(\.unknownCriticalExtensions))
    checks.require(unknown.isEmpty, .certificateCriticalExtension, unknown.sorted().joined(separator: ", "))
    let constraints = Set(path.intermediates.flatMap(\.unprocessedConstraints))
    checks.require(
      constraints.isEmpty, .certificateConstrained,
      constraints.sorted().map(CertificateExtensions.OID.name).joined(separator: ", "))
    if anchor.kind == .documentSigner {
      checks.notRun(.certificateJurisdictionMismatch)
    } else {
      require(
        signer.isInJurisdiction(of: anchor.certificate), .certificateJurisdictionMismatch, anchor,
        signer.jurisdictionFault(under: anchor.certificate))
    }
  }

  /// The extended key usages that the anchor's settings name, or else the document type's.
  private func expectedPurposes(_ anchor: TrustAnchor) -> Set<String> {
    anchor.extendedKeyUsages ?? validator.usages(docType)
  }

  private mutating func checkPurposes(
    of signer: Certificate, path: CertificationPath, anchor: TrustAnchor
  ) {
    let expected = expectedPurposes(anchor)
    let own = signer.extensions.extendedKeyUsage
    let mayLackPurposes = own == nil && mayLackPurposes(signer, anchor)
    if mayLackPurposes { checks.warned(.certificateExtendedKeyUsage, "the signer has none") }
    var wrong: [String] = []
    if !mayLackPurposes, expected.isDisjoint(with: own ?? []) {
      wrong.append("\(path.name(0)) has \(shownList(own ?? []))")
    }
    for (index, intermediate) in path.intermediates.enumerated() where !intermediate.mayCertify(forPurposes: expected) {
      wrong.append("\(path.name(index + 1)) has \(shownList(intermediate.extensions.extendedKeyUsage ?? []))")
    }
    let origin = anchor.extendedKeyUsages == nil ? "the document type's" : "by the anchor's \"ekus\""
    // Each code has its worst outcome, so a pass takes no warning back.
    require(
      wrong.isEmpty, .certificateExtendedKeyUsage, anchor,
      "\(wrong.joined(separator: ", ")); expected is one of \(shownList(expected.sorted())), \(origin)")
  }

  /// Whether a missing extension only warns. A pinned signer has its operator's word. Under an authority the signers of
  /// other documents than mDLs may lack it (ISO/IEC 18013-5, B.1.4, requires it of mDLs'). Settings that name purposes
  /// mean them.
  private func mayLackPurposes(_ signer: Certificate, _ anchor: TrustAnchor) -> Bool {
    guard anchor.extendedKeyUsages == nil else { return false }
    if anchor.kind == .documentSigner { return true }
    return !docType.hasSameBytes(as: TrustAnchor.mDL) && !signer.extensions.isCA
      && signer.extensions.keyUsage?.contains(.digitalSignature) == true
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
    checks.expect(anchor.docTypes != nil, .profileAnchorUnscoped, anchor.certificate.label)
  }

  /// Requires a security check, which this anchor's settings may have turned into a warning.
  private mutating func require(
    _ condition: Bool, _ code: Code, _ anchor: TrustAnchor, _ detail: @autoclosure () -> String
  ) {
    if condition {
      checks.passed(code)
    } else if anchor.relaxed.contains(code) {
      checks.warned(code, "relaxed for this anchor")
    } else {
      checks.failed(code, detail())
    }
  }

  // MARK: Time

  /// Requires that the certificates below the anchor are current. A pinned signer has none above it.
  private mutating func requireCurrent(_ path: CertificationPath) {
    let (now, skew) = (now, skew)
    let below = path.certificates.prefix(max(path.links.count, 1))
    checks.require(
      below.allSatisfy { $0.isCurrent(at: now, skew: skew) }, .certificateExpired,
      path.faults { index, certificate in index < below.count ? certificate.periodFault(at: now, skew: skew) : nil })
  }

  private func window(_ certificates: [Certificate], listedUntil: Timestamp?) -> ClosedRange<Timestamp>? {
    guard let from = certificates.map({ $0.validity.lowerBound - skew }).max(),
      let until = certificates.map({ $0.validity.upperBound + skew }).min()
    else { return nil }
    let end = min(until, listedUntil ?? until)
    return from <= end ? from...end : nil
  }

  // MARK: Results

  /// Ends the evaluation when nothing more can be checked. The other checks are noted as `not_run`.
  private mutating func stop(signer: Certificate?, skipping first: Code) -> PathEvaluation {
    let rest = PathValidator.codes.drop { $0 != first }
    for code in rest { checks.notRun(code) }
    return PathEvaluation(signer: signer, anchor: nil, path: [], checks: checks.checks, window: nil)
  }
}
