import Base
import Cryptography
import PKIX
import Testing

@testable import Mock

/// Path validation with certificates made for the tests: one attack at a time, in an otherwise valid chain.
@Suite struct PathTests {
  let maker: CertificateMaker
  let validator: PathValidator

  init() throws {
    maker = try CertificateMaker()
    validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
  }

  @Test func aSignerUnderItsAnchorIsTrusted() throws {
    #expect(try validator.failures([maker.signer()], at: maker.now) == [])
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func anAnchorMayHaveAKeyOnEveryCurveThatSigns(curve: Curve) throws {
    let maker = try CertificateMaker(curve: curve)
    let validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    #expect(try validator.failures([maker.signer()], at: maker.now) == [])
    #expect(try self.validator.failures([maker.signer()], at: maker.now) == [.issuerUnknown])
  }

  @Test func noCertificateIsNoChain() {
    #expect(validator.failures([], at: maker.now) == [.certificateMalformed])
  }

  @Test(arguments: [(0, -1, true), (0, 0, false), (60, -60, false), (60, -61, true)] as [(Int64, Int64, Bool)])
  func validityBeginsToTheSecond(skew: Int64, offset: Int64, isRefused: Bool) throws {
    let failures = try validator.failures([maker.signer()], at: maker.from + offset, skew: skew)
    #expect(failures == (isRefused ? [.anchorExpired, .certificateExpired] : []))
  }

  @Test(arguments: [(0, 1, true), (0, 0, false), (60, 60, false), (60, 61, true)] as [(Int64, Int64, Bool)])
  func validityEndsToTheSecond(skew: Int64, offset: Int64, isRefused: Bool) throws {
    let failures = try validator.failures([maker.signer()], at: maker.until + offset, skew: skew)
    #expect(failures == (isRefused ? [.anchorExpired, .certificateExpired] : []))
  }

  @Test func theWindowIsWhereAllCertificatesAreValid() throws {
    let signer = try maker.signer {
      $0.notBefore = maker.now - 10
      $0.notAfter = maker.now + 10
    }
    let evaluation = validator.evaluate(chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 5)
    #expect(evaluation.window == (maker.now - 15)...(maker.now + 15))
  }

  @Test func theRightOneOfTwoAnchorsWithOneNameIsChosen() throws {
    let other = try CertificateMaker()
    let anchors = [try other.anchor(), try maker.anchor()]
    for anchors in [anchors, anchors.reversed()] {
      let both = PathValidator(anchors: anchors, allowsTestCertificates: false)
      for (maker, certificate) in [(maker, anchors), (other, anchors)].map({ ($0.0, $0.0.root.key.publicKey) }) {
        let signer = try maker.signer { $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil }
        let evaluation = both.evaluate(
          chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
        #expect(evaluation.isTrusted)
        #expect(evaluation.anchor?.certificate.publicKey == certificate)
      }
    }
  }

  @Test func aLookAlikeOfTheAnchorSignsNothing() throws {
    let impostor = try CertificateMaker()
    let template = try impostor.signerTemplate()
    let withoutIdentifier = try impostor.signer { $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil }
    #expect(try validator.failures([template.signed(by: impostor.root.key)], at: maker.now) == [.issuerUnknown])
    #expect(validator.failures([withoutIdentifier], at: maker.now) == [.certificateSignatureInvalid])
    let root = try impostor.rootTemplate().signed(by: impostor.root.key)
    #expect(validator.failures([withoutIdentifier, root], at: maker.now) == [.issuerUnknown])
  }

  @Test func theAnchorItselfIsNoSigner() throws {
    let root = try maker.anchor().certificate.der
    #expect(validator.failures([root], at: maker.now) == [.issuerUnknown])
    #expect(validator.failures([root, root], at: maker.now) == [.issuerUnknown])
  }

  /// Self-issued is not self-signed (RFC 5280, 3.2).
  @Test func aSignerOfTheAnchorsNameIsChainedByKey() throws {
    let signer = try maker.signer { $0.subject = $0.issuer }
    #expect(validator.failures([signer], at: maker.now) == [])
    let withoutIdentifiers = try maker.signer {
      $0.subject = $0.issuer
      $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil
    }
    #expect(validator.failures([withoutIdentifiers], at: maker.now) == [])
    // It has the same name, but an untrusted key.
    let stranger = try CertificateMaker()
    let forged = try stranger.signer {
      $0.subject = $0.issuer
      $0[oid: CertificateExtension.authorityKeyIdentifierOID] = .authorityKeyIdentifier(maker.root.keyIdentifier)
    }
    #expect(validator.failures([forged], at: maker.now) == [.certificateSignatureInvalid])
    let explained = validator.explain(
      chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(explained.candidates.first?.isChosen == true && explained.candidates.first?.obstacles == [])
  }

  @Test func aRootOfTheAnchorsNameThatSignedItselfLeadsNowhere() throws {
    let key = try PrivateKey(generatingOn: .p256)
    let impostor = CertificateIssuer(name: maker.root.name, key: key)
    let root = try maker.caTemplate(impostor, under: impostor, pathLength: 0).signed(by: key)
    let signer = try maker.signerTemplate(under: impostor).signed(by: key)
    #expect(validator.failures([root], at: maker.now) == [.issuerUnknown])
    #expect(validator.failures([signer, root], at: maker.now) == [.issuerUnknown])
    let explained = validator.explain(
      chain: [root[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(explained.candidates.first?.obstacles == [.ownRoot])
  }

  /// The signers of other documents than mDLs may lack the extended key usage, unless the anchor's settings name one.
  @Test func aSignerOfOtherDocumentsMayLackThePurpose() throws {
    let photoID = "org.iso.23220.photoid.1"
    let purposes = CertificateExtension.extendedKeyUsageOID
    let usage = CertificateExtension.keyUsageOID
    var anchor = try maker.anchor()
    anchor.docTypes = [photoID, CertificateMaker.docType]
    func without(_ oid: String? = nil) throws -> [UInt8] {
      try maker.signer {
        $0[oid: purposes] = nil
        if let oid { $0[oid: oid] = nil }
      }
    }
    let lacking = try without()
    let cases: [(signer: [UInt8], docType: String, usages: Set<String>?, codes: [Code])] = try [
      (lacking, photoID, nil, []), (lacking, CertificateMaker.docType, nil, [.certificateExtendedKeyUsage]),
      (lacking, photoID, ["1.0.23220.4.1.2"], [.certificateExtendedKeyUsage]),
      (
        maker.signer { $0[oid: purposes] = .extendedKeyUsage(["1.3.6.1.5.5.7.3.1"]) }, photoID, nil,
        [.certificateExtendedKeyUsage]
      ),
      (without(usage), photoID, nil, [.certificateKeyUsage, .certificateExtendedKeyUsage]),
      (
        maker.signer {
          $0[oid: purposes] = nil
          $0.extensions.append(.basicConstraints(isCA: true, pathLength: nil))
        }, photoID, nil, [.certificateIsCA, .certificateExtendedKeyUsage]
      ),
    ]
    for (signer, docType, usages, codes) in cases {
      anchor.extendedKeyUsages = usages
      let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
      #expect(validator.failures([signer], docType: docType, at: maker.now) == codes)
      let evaluation = validator.evaluate(chain: [signer[...]], docType: docType, at: maker.now, skew: 0)
      let outcome = evaluation.checks.first { $0.code == .certificateExtendedKeyUsage }?.outcome
      #expect(outcome == (codes.isEmpty ? .warning : .failed))
    }
  }

  /// The person who configured it wants to know how to trust it.
  @Test func anAnchorThatSignedItselfIsToldHowToBePinned() throws {
    let root = try maker.anchor().certificate.der
    func detail(_ chain: [[UInt8]]) -> String? {
      validator.evaluate(chain: chain.map { $0[...] }, docType: CertificateMaker.docType, at: maker.now, skew: 0)
        .checks.first { $0.code == .issuerUnknown }?.detail
    }
    let own = try #require(detail([root]))
    #expect(own.contains("signed the document itself") && own.contains(#""kind": "document_signer""#))
    #expect(own.contains(#""relax": ["trust.certificate.is_ca", "trust.certificate.key_usage"]"#))
    // With these settings, it is trusted.
    let pinned = TrustAnchor(
      certificate: try Certificate(der: root), kind: .documentSigner, docTypes: [CertificateMaker.docType],
      relaxed: [.certificateIsCA, .certificateKeyUsage])
    #expect(PathValidator(anchors: [pinned], allowsTestCertificates: false).failures([root], at: maker.now) == [])
    let other = try maker.anchor { $0.extensions.append(.extendedKeyUsage(["1.2.3"])) }
    let validatorOfOther = PathValidator(anchors: [other], allowsTestCertificates: false)
    let wrong = validatorOfOther.evaluate(
      chain: [other.certificate.der[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    let advice = try #require(wrong.checks.first { $0.code == .issuerUnknown }?.detail)
    #expect(advice.contains(#""trust.certificate.key_usage", "trust.certificate.extended_key_usage"]"#))
    let stranger = try CertificateMaker(named: "stranger").signer()
    #expect(detail([stranger])?.hasPrefix("no anchor is the issuer of certificate") == true)
  }

  /// RFC 5280, 6.1: a restriction on the certificates below is either processed or rejects the path, critical or not.
  @Test(arguments: ["2.5.29.30", "2.5.29.33", "2.5.29.36", "2.5.29.54"])
  func anIntermediateWithConstraintsIsRefused(oid: String) throws {
    let failures = try failuresUnderIntermediate {
      $0.extensions.append(.init(oid: oid, isCritical: false, value: Self.constraint(oid)))
    }
    #expect(failures == [.certificateConstrained])
  }

  @Test func anIntermediateCertifiesForThePurposesThatItNames() throws {
    for (purposes, isRefused) in [
      ([TrustAnchor.documentSignerUsage], false), (["2.5.29.37.0"], false), (["1.0.18013.5.1.6"], true),
      (["1.3.6.1.5.5.7.3.1", TrustAnchor.documentSignerUsage], false),
    ] {
      let failures = try failuresUnderIntermediate { $0.extensions.append(.extendedKeyUsage(purposes)) }
      #expect(failures == (isRefused ? [.certificateExtendedKeyUsage] : []))
    }
  }

  /// The checks after the parsing then have no input.
  @Test func aChainOfWhichOneCertificateIsMalformedIsNoPath() throws {
    let signer = try maker.signer()
    let evaluation = validator.evaluate(
      chain: [signer[...], [0x30, 0x00]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.failures == [.certificateMalformed])
    #expect(evaluation.signer?.der == signer && evaluation.path.isEmpty)
    #expect(evaluation.checks.filter { $0.outcome == .passed }.map(\.code) == [.chainTooLong])
  }

  /// The anchor's settings override the limit of its own certificate, but not those of the intermediates.
  @Test(arguments: [nil, 1, 0] as [UInt8?])
  func anIntermediateSaysHowManyMayStandBelowIt(pathLength: UInt8?) throws {
    let upper = try issuer("upper")
    let lower = try issuer("lower")
    var anchor = try maker.anchor()
    anchor.maxPathLength = 2
    let chain = try [
      maker.signerTemplate(under: lower).signed(by: lower.key),
      maker.caTemplate(lower, under: upper, pathLength: nil).signed(by: upper.key),
      maker.caTemplate(upper, under: maker.root, pathLength: pathLength).signed(by: maker.root.key),
    ]
    let failures = PathValidator(anchors: [anchor], allowsTestCertificates: false).failures(chain, at: maker.now)
    #expect(failures == (pathLength == 0 ? [.pathLengthExceeded] : []))
  }

  @Test func aSignerThatNamesAnotherThanTheOneWhoSignedIsRefused() throws {
    let middle = try issuer("middle")
    var anchor = try maker.anchor()
    anchor.maxPathLength = 1
    var signer = try maker.signerTemplate(under: middle)
    signer.issuer.set(CertificateName.commonName, to: DER.utf8String("another"))
    let chain = try [
      signer.signed(by: middle.key),
      maker.caTemplate(middle, under: maker.root, pathLength: 0).signed(by: maker.root.key),
    ]
    let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    #expect(validator.failures(chain, at: maker.now) == [.nameChaining])
  }

  @Test func anAnchorWhoseKeyCertifiesNothingIsNone() throws {
    for usage in [CertificateExtension.keyUsage(.crlSign), .keyUsage(.digitalSignature, .crlSign)] {
      let anchor = try maker.anchor { $0[oid: CertificateExtension.keyUsageOID] = usage }
      let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
      #expect(try validator.failures([maker.signer()], at: maker.now) == [.anchorNotCA])
    }
  }

  @Test(arguments: [TrustAnchor.Kind.authority, .documentSigner])
  func anAnchorOfAListHoldsAsLongAsTheList(kind: TrustAnchor.Kind) throws {
    let signer = try maker.signer()
    var anchor = try maker.anchor()
    if kind == .documentSigner {
      anchor = TrustAnchor(
        certificate: try Certificate(der: signer), kind: kind, docTypes: [CertificateMaker.docType])
    }
    anchor.trustedUntil = maker.now
    let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    #expect(validator.failures([signer], at: maker.now) == [])
    #expect(validator.failures([signer], at: maker.now + 1) == [.anchorExpired])
  }

  private func issuer(_ name: String) throws -> CertificateIssuer {
    CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: name),
      key: try PrivateKey(generatingOn: .p256))
  }

  private static func constraint(_ oid: String) -> [UInt8] {
    switch oid {
    case "2.5.29.30":
      DER.sequence(DER.explicit(0, DER.sequence(DER.element(0x82, Array("a.example".utf8)))))
    case "2.5.29.33": DER.sequence(DER.sequence([0x06, 0x02, 0x2a, 0x03], [0x06, 0x02, 0x2a, 0x04]))
    case "2.5.29.36": DER.sequence(DER.implicit(0, [0x00]))
    default: DER.integer([0x00])
    }
  }

  private func failuresUnderIntermediate(_ change: (inout CertificateTemplate) -> Void) throws -> [Code] {
    let middle = try issuer("middle")
    var template = maker.caTemplate(middle, under: maker.root, pathLength: 0)
    change(&template)
    var anchor = try maker.anchor()
    anchor.maxPathLength = 1
    let chain = try [
      maker.signerTemplate(under: middle).signed(by: middle.key), template.signed(by: maker.root.key),
    ]
    return PathValidator(anchors: [anchor], allowsTestCertificates: false).failures(chain, at: maker.now)
  }

  // MARK: Purposes

  @Test func theExpectedPurposeIsTheDocumentTypesUnlessTheAnchorNamesOthers() throws {
    let european = "1.3.130.2.0.0.1.2"
    var anchor = try maker.anchor()
    anchor.docTypes = nil
    let signer = try maker.signer { $0[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage([european]) }
    let usages: @Sendable (String) -> Set<String> = { $0 == "pid" ? [european] : [TrustAnchor.documentSignerUsage] }
    let byType = PathValidator(anchors: [anchor], allowsTestCertificates: false, usages: usages)
    #expect(byType.failures([signer], docType: "pid", at: maker.now) == [])
    #expect(byType.failures([signer], docType: "mdl", at: maker.now) == [.certificateExtendedKeyUsage])
    anchor.extendedKeyUsages = ["1.2.3", "1.2.4"]
    let configured = PathValidator(anchors: [anchor], allowsTestCertificates: false, usages: usages)
    let check = configured.evaluate(chain: [signer[...]], docType: "pid", at: maker.now, skew: 0)
      .checks.first { $0.code == .certificateExtendedKeyUsage }
    #expect(
      check?.detail?.replacing(/certificate [0-9a-f]+/, with: "certificate #")
        == "the signer, certificate # (\"signer\"), has 1.3.130.2.0.0.1.2; expected one of 1.2.3, 1.2.4, by the anchor's \"ekus\""
    )
  }

  @Test func aRootAfterTheSignerIsDroppedAndNamed() throws {
    let root = try maker.anchor().certificate.der
    let chain = [try maker.signer(), root].map { $0[...] }
    let evaluation = validator.evaluate(chain: chain, docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.checks.contains { $0.code == .profileRootInChain && $0.outcome == .warning })
  }

  @Test func anUnrelatedCertificateInTheChainIsRefused() throws {
    let stranger = try CertificateMaker(named: "stranger")
    let root = try stranger.rootTemplate().signed(by: stranger.root.key)
    let signer = try maker.signer()
    #expect(validator.failures([signer, root], at: maker.now) == [.issuerUnknown])
    #expect(try !validator.failures([signer, maker.signer()], at: maker.now).isEmpty)
    #expect(try !validator.failures([maker.anchor().certificate.der, signer], at: maker.now).isEmpty)
  }

  @Test func aSignerThatIssuesAnotherSignerIsRefused() throws {
    let key = try PrivateKey(generatingOn: .p256)
    let first = try maker.signerTemplate(key.publicKey)
    let second = try maker.signerTemplate(under: CertificateIssuer(name: first.subject, key: key))
    // It has the first one's subject, so it looks self-issued; a different name does not help either.
    var renamed = second
    renamed.subject.set(CertificateName.commonName, to: DER.utf8String("another"))
    let chain = try [renamed.signed(by: key), first.signed(by: maker.root.key)]
    let failures = validator.failures(chain, at: maker.now)
    #expect(failures.contains(.pathLengthExceeded) && failures.contains(.certificateIsCA))
  }

  @Test func countriesAreComparedByBytes() throws {
    // U+212A KELVIN SIGN is canonically equivalent to "K".
    let anchor = try maker.anchor { $0.subject.set(CertificateName.country, to: DER.printableString("KR")) }
    let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    for (country, isRefused) in [("KR", false), ("\u{212a}R", true), ("kr", true), ("KR ", true)] {
      let signer = try maker.signer {
        $0.issuer.set(CertificateName.country, to: DER.printableString("KR"))
        $0.subject.set(CertificateName.country, to: DER.utf8String(country))
      }
      let expected: [Code] = isRefused ? [.certificateJurisdictionMismatch] : []
      #expect(validator.failures([signer], at: maker.now) == expected, "\(country)")
    }
  }

  @Test func documentTypesAreComparedByBytes() throws {
    var anchor = try maker.anchor()
    anchor.docTypes = ["org.example.caf\u{e9}"]
    let validator = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    let signer = try maker.signer()
    #expect(validator.failures([signer], docType: "org.example.caf\u{e9}", at: maker.now) == [])
    #expect(
      validator.failures([signer], docType: "org.example.cafe\u{301}", at: maker.now) == [.issuerNotTrustedForDocType])
  }

  @Test(arguments: 0...2)
  func liveModeRefusesMockCertificatesWhereverTheyAre(position: Int) throws {
    let middle = try issuer("middle")
    var templates = [
      try maker.signerTemplate(under: middle), maker.caTemplate(middle, under: maker.root, pathLength: 0),
      maker.caTemplate(maker.root, under: maker.root, pathLength: 1),
    ]
    templates[position].extensions.append(.mockMarker)
    var anchor = TrustAnchor(
      certificate: try Certificate(der: templates[2].signed(by: maker.root.key)),
      docTypes: [CertificateMaker.docType])
    anchor.maxPathLength = 1
    let chain = try [templates[0].signed(by: middle.key), templates[1].signed(by: maker.root.key)]
    let live = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    #expect(live.failures(chain, at: maker.now) == [.testCertificate])
    let test = PathValidator(anchors: [anchor], allowsTestCertificates: true)
    #expect(test.failures(chain, at: maker.now) == [])
  }
}
