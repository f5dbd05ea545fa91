import Base

/// The result of validating one chain.
public struct PathEvaluation: Sendable {
  /// The first certificate of the chain; nil if it could not be parsed. It is trusted only if no check failed.
  public let signer: Certificate?
  public let anchor: TrustAnchor?
  /// The document signer first, the anchor last; one certificate if the signer is itself the anchor. Empty if no anchor
  /// was found.
  public let path: [Certificate]
  public let checks: [Check]
  /// The period, including skew, in which every certificate of the path is valid and the checks keep their results.
  public let window: ClosedRange<Timestamp>?

  public var isTrusted: Bool { anchor != nil && !checks.contains { $0.outcome == .failed } }
}

/// Validates a document signer's chain against trust anchors (RFC 5280, 6.1; ISO/IEC 18013-5, 9.3.3).
public struct PathValidator: Sendable {
  public let anchors: [TrustAnchor]
  /// Whether mock certificates and certificates for published keys may be trusted.
  public let allowsTestCertificates: Bool
  /// Whether certificates for published keys are only a warning, as in staging. Mock certificates are refused even
  /// then.
  public let warnsOfPublishedKeys: Bool
  /// The extended key usages for a document type. A signer must have one of them, unless the anchor's settings list
  /// usages.
  let usages: @Sendable (String) -> Set<String>

  /// Every check of a path, in its order of execution.
  public static let codes = ownCodes + ProfileRule.onPaths.map(\.code) + [.profileAnchorUnscoped, .profileRootInChain]

  fileprivate static let ownCodes: [Code] = [
    .chainTooLong, .certificateMalformed, .testCertificate, .issuerUnknown, .nameChaining, .certificateSignatureInvalid,
    .certificateAlgorithmUnsupported, .anchorNotCA, .anchorExpired, .issuerNotTrustedForDocType, .pathLengthExceeded,
    .certificateExpired, .certificateIsCA, .certificateKeyUsage, .certificateExtendedKeyUsage,
    .certificateCriticalExtension, .certificateConstrained, .certificateJurisdictionMismatch,
  ]

  fileprivate let authorities: [TrustAnchor]
  fileprivate let signers: [TrustAnchor]
  /// The deviations of each authority, by its SHA-256, with one entry for each rule on paths.
  fileprivate let anchorProfiles: [[UInt8]: [[String]?]]

  /// - Parameter usages: extended key usages by document type; by default the standards' for any document.
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

/// One evaluation, which records every check once, in the order of `PathValidator.codes`.
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
        ? "\(chain.count) certificates; the limit is \(Limits.chainCertificates)"
        : "a certificate of \(chain.map(\.count).max() ?? 0) bytes; the limit is \(Limits.certificateBytes)")
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

  /// Evaluates a signer that is itself the anchor. The signer's issuer does not matter.
  private mutating func evaluate(pinned signer: Certificate, anchor: TrustAnchor) -> PathEvaluation {
    let docType = docType
    let path = CertificationPath([signer])
    requireLiveCertificates([signer])
    checks.passed(.issuerUnknown)
    checks.notRun(.nameChaining, .certificateSignatureInvalid)
    checks.require(.certificateAlgorithmUnsupported, without: path.algorithmFaults)
    checks.notRun(.anchorNotCA)
    if anchor.isListed(at: now) { checks.notRun(.anchorExpired) } else { noteListEnded(anchor) }
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType, anchor.docTypeFault(docType))
    checks.notRun(.pathLengthExceeded)
    requireCurrent(path)
    return finish(path, anchor: anchor, carriesAnchor: false)
  }

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
          .nameChaining, "\(chain[chain.count - 1].label) has an anchor's key identifier, but another issuer")
      } else {
        checks.notRun(.nameChaining)
      }
      return stop(signer: chain[0], skipping: .certificateSignatureInvalid)
    }
    let path = CertificationPath(complete, anchorHasSigned: search.hasSigned)
    checks.require(.nameChaining, without: path.linkFaults(\.nameFault))
    checks.require(
      .certificateSignatureInvalid, without: path.linkFaults { $0.isSigned ? nil : "is not signed with the key of" })
    checks.require(.certificateAlgorithmUnsupported, without: path.algorithmFaults)
    let authorities = path.authorities
    checkAnchor(anchor, authorities[authorities.count - 1])
    checks.require(anchor.allows(docType), .issuerNotTrustedForDocType, anchor.docTypeFault(docType))
    // The anchor's settings override the limit in its certificate: Annex B sets zero for every IACA, but some
    // authorities need more.
    let count = path.intermediates.count
    checks.require(
      count <= anchor.maxPathLength && authorities.dropLast().allSatisfy(\.allowsLength), .pathLengthExceeded,
      "\(count) between anchor and signer")
    requireCurrent(path)
    return finish(path, anchor: anchor, carriesAnchor: carriesAnchor)
  }

  private mutating func finish(
    _ path: CertificationPath, anchor: TrustAnchor, carriesAnchor: Bool
  ) -> PathEvaluation {
    let signer = path.certificates[0]
    checkUsage(of: signer, path, anchor)
    checkProfile(of: signer, issuer: path.links.first?.issuer, anchor: anchor)
    checks.expect(!carriesAnchor, .profileRootInChain, "it ends in \(anchor.certificate.label)")
    return PathEvaluation(
      signer: signer, anchor: anchor, path: path.certificates, checks: checks.checks,
      window: window(path.certificates, listedUntil: anchor.trustedUntil))
  }

  /// The detail for a chain without an anchor. If the signer is itself an anchor, the detail explains how to pin the
  /// signer.
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

  private func findAnchor(for certificate: Certificate) -> AnchorSearch {
    let found = CertificationPath.anchor(
      of: certificate, among: validator.authorities, certificate: \.certificate, rank: rank)
    if let found, found.hasSigned { return (found.anchor, true, false) }
    // A certificate signed by its own key is a root, so it has no anchor.
    if certificate.isSelfSigned { return (nil, false, false) }
    if let found { return (found.anchor, false, false) }
    let isMisnamed = validator.authorities.contains {
      certificate.namesKey(of: $0.certificate) && $0.certificate.subject.der != certificate.issuer.der
    }
    return (nil, false, isMisnamed)
  }

  /// Ranks anchors for this document type first. Within these, configured anchors and anchors with a current list come
  /// first.
  private func rank(_ anchor: TrustAnchor) -> Int {
    if !anchor.allows(docType) { return 2 }
    return anchor.isListed(at: now) ? 0 : 1
  }

  /// The anchor, and whether its key signed the certificate. Without an anchor, whether an anchor's name differs.
  private typealias AnchorSearch = (anchor: TrustAnchor?, hasSigned: Bool, isMisnamed: Bool)

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

  /// Records that the list has expired. This check is never relaxed, since only a current list vouches for the anchor.
  private mutating func noteListEnded(_ anchor: TrustAnchor) {
    checks.failed(.anchorExpired, "the list that names \(anchor.certificate.label) is no longer current")
  }

  private mutating func checkUsage(of signer: Certificate, _ path: CertificationPath, _ anchor: TrustAnchor) {
    let authorities = path.authorities.dropLast()
    require(
      .certificateIsCA, anchor,
      without: path.faults { index, certificate in
        let isCA = certificate.extensions.isCA
        if index == 0 { return isCA ? "has the CA flag" : nil }
        return isCA || index == path.links.count ? nil : "has no CA flag"
      })
    if anchor.kind == .documentSigner, signer.extensions.keyUsage == nil {
      checks.warned(.certificateKeyUsage, "the signer has none")
    } else {
      require(
        .certificateKeyUsage, anchor,
        without: path.faults { index, certificate in
          let usage = certificate.extensions.keyUsage
          let fits =
            index == 0
            ? CertificateRole.documentSigner.permits(usage)
            : index == path.links.count || authorities[index - 1].hasCertifyingKey
          return fits ? nil : "has \(usage.map { $0.names.joined(separator: ", ") } ?? "no keyUsage")"
        })
    }
    checkPurposes(of: signer, path: path, anchor: anchor)
    let unknown = Set(path.certificates.flatMap(\.unknownCriticalExtensions))
    checks.require(.certificateCriticalExtension, without: unknown.sorted().joined(separator: ", "))
    let constraints = Set(path.intermediates.flatMap(\.unprocessedConstraints)).sorted()
    checks.require(
      .certificateConstrained, without: constraints.map(CertificateExtensions.OID.name).joined(separator: ", "))
    if anchor.kind == .documentSigner {
      checks.notRun(.certificateJurisdictionMismatch)
    } else {
      require(
        .certificateJurisdictionMismatch, anchor, without: signer.jurisdictionFaults(under: anchor.certificate))
    }
  }

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
    // A code keeps its worst outcome: a later `passed` does not remove a warning.
    require(
      wrong.isEmpty, .certificateExtendedKeyUsage, anchor,
      "\(wrong.joined(separator: ", ")); expected one of \(shownList(expected.sorted())), \(origin)")
  }

  /// True if a missing extension is only a warning: for a pinned signer, and for documents other than mDLs (B.1.4
  /// requires the extension only for mDLs). If the anchor's settings list purposes, the extension is required.
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
      let (own, anchors) = (rule.labelledDeviations(subject), ofAnchor?[index])
      if own == nil, anchors == nil { checks.notRun(rule.code) }
      if let own { checks.expect(own.isEmpty, rule.code, own.joined(separator: "; ")) }
      if let anchors { checks.expect(anchors.isEmpty, rule.code, anchors.joined(separator: "; ")) }
    }
    checks.expect(anchor.docTypes != nil, .profileAnchorUnscoped, anchor.certificate.label)
  }

  /// Requires a security check, which this anchor's settings may turn into a warning.
  private mutating func require(_ code: Code, _ anchor: TrustAnchor, without faults: String) {
    require(faults.isEmpty, code, anchor, faults)
  }

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

  /// Requires that the certificates below the anchor, or the pinned signer, are current.
  private mutating func requireCurrent(_ path: CertificationPath) {
    let (now, skew) = (now, skew)
    let below = max(path.links.count, 1)
    checks.require(
      .certificateExpired,
      without: path.faults { index, certificate in
        index < below ? certificate.periodFault(at: now, skew: skew) : nil
      })
  }

  private func window(_ certificates: [Certificate], listedUntil: Timestamp?) -> ClosedRange<Timestamp>? {
    guard let from = certificates.map({ $0.validity.lowerBound - skew }).max(),
      let until = certificates.map({ $0.validity.upperBound + skew }).min()
    else { return nil }
    let end = min(until, listedUntil ?? until)
    return from <= end ? from...end : nil
  }

  /// Ends the evaluation if no further check is possible. The other checks are recorded as `not_run`.
  private mutating func stop(signer: Certificate?, skipping first: Code) -> PathEvaluation {
    for code in PathValidator.codes.drop(while: { $0 != first }) { checks.notRun(code) }
    return PathEvaluation(signer: signer, anchor: nil, path: [], checks: checks.checks, window: nil)
  }
}

extension Code {
  public static let chainTooLong = Code(
    "trust.chain_too_long", "The certificate chain has too many or too large certificates",
    "\(iso), 9.3.3", .forged, passes: "The chain is within the limits")
  public static let certificateMalformed = Code(
    "trust.certificate.malformed", "A certificate is not one valid DER certificate, or has a malformed extension",
    "RFC 5280, 4.1", .issuer, passes: "The certificates are well-formed")
  public static let testCertificate = Code(
    "trust.test_certificate", "A mock or published test certificate, which is never trusted in live mode",
    "Test anchors are never trusted in live mode", "Use real documents in live mode, and `--test-mode` for tests.",
    passes: "No certificate is a published test certificate", cases: "T25")
  public static let issuerUnknown = Code(
    "trust.issuer_unknown", "The certificate chain leads to no configured trust anchor", "\(iso), 9.3.3", .anchors,
    passes: "The signer leads to a trusted authority")
  public static let nameChaining = Code(
    "trust.name_chaining", "The certificate has an anchor's key identifier, but another issuer name",
    "RFC 5280, 6.1.3 (a)(4)", .issuer, passes: "Every certificate has its issuer's name")
  public static let certificateSignatureInvalid = Code(
    "trust.certificate.signature_invalid", "A certificate's signature does not verify with its issuer's key",
    "RFC 5280, 6.1.3 (a)(1)", .forged, passes: "Every certificate's signature is valid")
  public static let certificateAlgorithmUnsupported = Code(
    "trust.certificate.algorithm_unsupported",
    "A certificate's key or signature algorithm is not one of the standard's", "\(iso), B.1", .issuer,
    passes: "The certificates' algorithms are allowed")
  public static let anchorNotCA = Code(
    "trust.anchor_not_ca", "The trust anchor is not a certification authority", "\(iso), B.1.2", .anchors,
    passes: "The authority's certificate may sign certificates")
  public static let anchorExpired = Code(
    "trust.anchor_expired", "The trust anchor is not valid at this time", "RFC 5280, 6.1.3 (a)(2)", .anchors,
    passes: "The authority's certificate is valid now")
  public static let issuerNotTrustedForDocType = Code(
    "trust.not_for_doc_type", "The anchor is trusted, but not for this document type", "\(iso), 9.3.3", .anchors,
    passes: "The authority is trusted for this document type", cases: "V04")
  public static let pathLengthExceeded = Code(
    "trust.path_length_exceeded", "The path has more certificates between anchor and signer than the anchor allows",
    "RFC 5280, 6.1.4 (l)–(m)", .anchors, passes: "The path length is within every certificate's bound")
  public static let certificateExpired = Code(
    "trust.certificate.expired", "A certificate of the chain is expired or not yet valid", "RFC 5280, 6.1.3 (a)(2)",
    "Check this machine's clock and any given time. If they are right, the issuer needs a valid certificate.",
    passes: "The certificates are valid now")
  public static let certificateIsCA = Code(
    "trust.certificate.is_ca", "The document signer is a certification authority, or an issuing certificate is not one",
    "RFC 5280, 6.1.4 (k)", .issuer, passes: "The signer's certificate is not an authority's")
  public static let certificateKeyUsage = Code(
    "trust.certificate.key_usage", "A certificate's key usage does not allow its use here",
    "RFC 5280, 6.1.4 (n)", .issuer, passes: "The signer's key may sign documents")
  public static let certificateExtendedKeyUsage = Code(
    "trust.certificate.extended_key_usage", "A certificate's extended key usage does not allow its use here",
    "\(iso), B.1.4",
    "The issuer needs a signer that is certified for the document type. If the issuer's own profile has another "
      + "usage, name it in `ekus`: in the anchor's settings file, or beside the list that contains the anchor.",
    passes: "The certificate is for signing such documents")
  public static let certificateCriticalExtension = Code(
    "trust.certificate.critical_extension", "A certificate has an unknown critical extension",
    "RFC 5280, 6.1.4 (o)", .issuer, passes: "No critical extension is unknown")
  public static let certificateConstrained = Code(
    "trust.certificate.constrained",
    "A certificate between anchor and signer has name or policy constraints, which are not processed",
    "RFC 5280, 6.1.4 (a)–(b), (g)–(j); \(iso), B.1", .issuer,
    passes: "No certificate has unprocessed constraints")
  public static let certificateJurisdictionMismatch = Code(
    "trust.certificate.jurisdiction_mismatch",
    "The document signer's country or state differs from its issuing authority's", "\(iso), 9.3.3", .issuer,
    passes: "Signer and authority have the same jurisdiction")
  public static let profileAnchorUnscoped = Code(
    "trust.profile.anchor_unscoped", "The anchor's document types are not configured, so it was trusted for any type",
    "RFC 5280, 6.1.1 (d)", "Write a settings file beside the anchor that lists its document types.",
    passes: "The authority is trusted for named document types", warns: true)
  public static let profileRootInChain = Code(
    "trust.profile.root_in_chain", "The chain includes the trust anchor itself", "\(iso), 9.1.2.4", .issuer,
    passes: "The chain does not include the root", warns: true)
}

extension Code.Remedy {
  static let anchors: Self =
    "List the configured anchors (`mdoc trust list`), and decide whether to trust this issuer."
}

extension CodeGroup {
  public static let certificatePath = CodeGroup(
    "Path from the document signer to a trust anchor",
    PathValidator.ownCodes + ProfileRule.all.map(\.code) + [.profileAnchorUnscoped, .profileRootInChain])
}
