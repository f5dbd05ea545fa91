import Base
import Cryptography
import PKIX
import Testing

@testable import Mock

/// A document signer that is itself the anchor: only this certificate is trusted, after every check of a signer.
@Suite struct PinnedSignerTests {
  let maker: CertificateMaker

  init() throws { maker = try CertificateMaker() }

  @Test func isTrustedWithoutItsIssuer() throws {
    let signer = try maker.signer()
    let evaluation = try pinned(signer).evaluate(
      chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.signer?.der == signer && evaluation.anchor?.certificate.der == signer)
    #expect(evaluation.window == maker.from...maker.until)
    let notRun = evaluation.checks.filter { $0.outcome == .notRun }.map(\.code)
    #expect(
      notRun == [
        .nameChaining, .certificateSignatureInvalid, .anchorNotCA, .anchorExpired, .pathLengthExceeded,
        .certificateJurisdictionMismatch, .profileSignatureAlgorithm,
      ])
    #expect(evaluation.checks.filter { $0.outcome == .warning } == [])
  }

  @Test func saysWhatAnyEvaluationSays() throws {
    let signer = try maker.signer()
    let authority = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    let codes = try [authority, pinned(signer)].map {
      $0.evaluate(chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0).checks.map(\.code)
    }
    #expect(codes[0] == codes[1])
  }

  @Test func anotherSignerOfTheSameAuthorityIsRefused() throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    let first = try maker.signerTemplate(key).signed(by: maker.root.key)
    // Even with the same key and names: only the serial number differs, which is derived from the content.
    var renewed = try maker.signerTemplate(key)
    renewed.notAfter = maker.until + 1
    let second = try renewed.signed(by: maker.root.key)
    #expect(try pinned(first).failures([first], at: maker.now) == [])
    #expect(try pinned(first).failures([second], at: maker.now) == [.issuerUnknown])
    #expect(try pinned(first).failures([second, first], at: maker.now) == [.issuerUnknown])
  }

  @Test func certifiesNobody() throws {
    let key = try PrivateKey(generatingOn: .p256)
    let first = try maker.signerTemplate(key.publicKey)
    let pin = try first.signed(by: maker.root.key)
    var below = try maker.signerTemplate(under: CertificateIssuer(name: first.subject, key: key))
    below.subject.set(CertificateName.commonName, to: DER.utf8String("below"))
    let chain = try [below.signed(by: key), pin]
    #expect(try pinned(pin).failures(chain, at: maker.now) == [.issuerUnknown])
    #expect(try pinned(pin).failures([chain[0]], at: maker.now) == [.issuerUnknown])
  }

  @Test func aPinnedAuthorityIsNoSigner() throws {
    let root = try maker.anchor().certificate.der
    let failures = try pinned(root).failures([root], at: maker.now)
    #expect(failures == [.certificateIsCA, .certificateKeyUsage])
    #expect(try pinned(root).failures([maker.signer()], at: maker.now) == [.issuerUnknown])
  }

  /// As in conformance suites, whose signer is itself an authority.
  @Test func mayBeAnAuthorityWhereItsSettingsSaySo() throws {
    let root = try maker.anchor {
      $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.digitalSignature)
      $0.extensions.append(.extendedKeyUsage([TrustAnchor.documentSignerUsage]))
    }.certificate
    let relaxed = TrustAnchor(
      certificate: root, kind: .documentSigner, docTypes: [CertificateMaker.docType], relaxed: [.certificateIsCA])
    let evaluation = PathValidator(anchors: [relaxed], allowsTestCertificates: false)
      .evaluate(chain: [root.der[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.checks.first { $0.code == .certificateIsCA }?.outcome == .warning)
    #expect(try pinned(root.der).failures([root.der], at: maker.now) == [.certificateIsCA])
    // It does not thereby certify others, and the rule cannot be relaxed for an authority.
    let below = PathValidator(anchors: [relaxed], allowsTestCertificates: false)
    #expect(try below.failures([maker.signer()], at: maker.now) == [.issuerUnknown])
    #expect(TrustAnchor(certificate: root, relaxed: [.certificateIsCA]).relaxed.isEmpty)
  }

  @Test func everyCheckOfASignerIsMade() throws {
    let cases: [(Code, (inout CertificateTemplate) -> Void)] = [
      (
        .certificateExtendedKeyUsage,
        { $0[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(["1.2.3"]) }
      ),
      (.certificateKeyUsage, { $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign) }),
      (
        .certificateCriticalExtension,
        { $0.extensions.append(.init(oid: "1.2.3.4", isCritical: true, value: DER.null)) }
      ),
      (.certificateExpired, { $0.notAfter = maker.now - 1 }), (.certificateExpired, { $0.notBefore = maker.now + 1 }),
      (.certificateAlgorithmUnsupported, { $0.publicKeyInfo = SubjectPublicKeyInfo.rsa(modulus: [0xff, 0x01]).der }),
      (.testCertificate, { $0.extensions.append(.mockMarker) }),
    ]
    for (code, change) in cases {
      let signer = try maker.signer(change)
      #expect(try pinned(signer).failures([signer], at: maker.now) == [code])
    }
  }

  /// An absent extension contradicts nothing: the operator's settings decide.
  @Test func lacksUsagesWithAWarning() throws {
    let cases: [(Code, String)] = [
      (.certificateExtendedKeyUsage, CertificateExtension.extendedKeyUsageOID),
      (.certificateKeyUsage, CertificateExtension.keyUsageOID),
    ]
    for (code, oid) in cases {
      let signer = try maker.signer { $0[oid: oid] = nil }
      let evaluation = try pinned(signer).evaluate(
        chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
      #expect(evaluation.isTrusted)
      #expect(evaluation.checks.filter { $0.outcome == .warning }.map(\.code) == [code])
      #expect(
        try PathValidator(anchors: [maker.anchor()], allowsTestCertificates: false)
          .failures([signer], at: maker.now) == [code])
    }
    // Usages that the settings name are required.
    let signer = try maker.signer { $0[oid: CertificateExtension.extendedKeyUsageOID] = nil }
    let strict = TrustAnchor(
      certificate: try Certificate(der: signer), kind: .documentSigner, docTypes: [CertificateMaker.docType],
      extendedKeyUsages: [TrustAnchor.documentSignerUsage])
    let validator = PathValidator(anchors: [strict], allowsTestCertificates: false)
    #expect(validator.failures([signer], at: maker.now) == [.certificateExtendedKeyUsage])
  }

  @Test func isTrustedForItsDocumentTypesAlone() throws {
    let signer = try maker.signer()
    #expect(try pinned(signer).failures([signer], docType: "other", at: maker.now) == [.issuerNotTrustedForDocType])
  }

  /// Pinned for one type, under an authority that is trusted for another type: each applies to its own type.
  @Test func standsBesideItsAuthority() throws {
    let signer = try maker.signer()
    let anchors = [
      TrustAnchor(certificate: try Certificate(der: signer), kind: .documentSigner, docTypes: ["pinned"]),
      try maker.anchor(),
    ]
    for anchors in [anchors, anchors.reversed()] {
      let validator = PathValidator(anchors: anchors, allowsTestCertificates: false)
      #expect(validator.failures([signer], docType: "pinned", at: maker.now) == [])
      #expect(validator.failures([signer], at: maker.now) == [])
      #expect(validator.failures([signer], docType: "third", at: maker.now) == [.issuerNotTrustedForDocType])
      #expect(
        try validator.failures([maker.signer()], docType: "pinned", at: maker.now) == [.issuerNotTrustedForDocType])
    }
  }

  @Test func mayBeSelfSigned() throws {
    let key = try PrivateKey(generatingOn: .p256)
    var template = try maker.signerTemplate(key.publicKey)
    template.issuer = template.subject
    let signer = try template.signed(by: key)
    #expect(try pinned(signer).failures([signer], at: maker.now) == [])
  }

  private func pinned(_ signer: [UInt8]) throws -> PathValidator {
    let anchor = TrustAnchor(
      certificate: try Certificate(der: signer), kind: .documentSigner, docTypes: [CertificateMaker.docType])
    return PathValidator(anchors: [anchor], allowsTestCertificates: false)
  }
}
