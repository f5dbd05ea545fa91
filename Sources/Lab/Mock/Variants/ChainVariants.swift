import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Chains that lead to no anchor, or to one that may not be used (ISO/IEC 18013-5, 9.3.3; RFC 5280, 6.1).
  @MockVariantList static var chains: [MockVariant] {
    chain("anchor-unknown", "The signer's authority is not among the anchors.", "T02", [.issuerUnknown]) {
      try $0.useUnknownRoot()
    }
    chain(
      "anchor-look-alike", "A root of the anchor's name and key identifier, with another key, stands in the x5chain.",
      "T03", [.issuerUnknown]
    ) {
      let genuine = try $0.authority.certificateIssuer(.good)
      let key = try $0.authority.seed.key("look-alike", on: $0.authority.issuerCurve)
      let validity = AnchorKind.good.validity(at: $0.now)
      let impostor = CertificateIssuer(name: genuine.name, key: key)
      var root = $0.authority.rootTemplate(impostor, from: validity.from, until: validity.until)
      root[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier(genuine.keyIdentifier)
      $0.signer.issuerKey = key
      $0.signer.further = [try root.signed(by: key)]
    }
    chain("anchor-not-ca", "The anchor has no CA flag.", "T04", [.anchorNotCA]) { try $0.useSigner(under: .notCA) }
    chain("anchor-expired", "The anchor is expired.", "T05", [.anchorExpired]) { try $0.useSigner(under: .expired) }
    chain("anchor-not-yet-valid", "The anchor is not yet valid.", "T05", [.anchorExpired]) {
      try $0.useSigner(under: .notYetValid)
    }
    chain(
      "signer-issuer-name", "The signer names another issuer than the anchor of its key identifier.", "T07",
      [.nameChaining]
    ) { $0.signer.certificate.issuer = $0.authority.name("mdoc Mock IACA of another name") }
    chain("signer-aki", "The signer's authority key identifier is no anchor's.", "T08", [.issuerUnknown]) {
      $0.signer.certificate[oid: CertificateExtension.authorityKeyIdentifierOID] = .authorityKeyIdentifier(
        HashAlgorithm.sha1.hash(Array("nobody".utf8)))
    }
    chain(
      "signer-signature", "Another key than the anchor's signed the signer's certificate.", "T09",
      [.certificateSignatureInvalid]
    ) { $0.signer.issuerKey = try $0.authority.seed.key("impostor", on: $0.authority.issuerCurve) }
    chain("anchor-self-signature", "The anchor's self-signature does not verify; pinned, it needs none.", "T10", []) {
      try $0.useSigner(under: .brokenSelfSignature)
    }
    chain(
      "signer-issued-by-signer", "A document signer issued the document signer.", "T11",
      [.pathLengthExceeded, .certificateIsCA, .certificateKeyUsage]
    ) { try $0.useIntermediate(under: .good) { $0.makeSigner() } }
    chain("intermediate-not-ca", "The certificate between anchor and signer has no CA flag.", "T11", [.certificateIsCA])
    {
      try $0.useIntermediate(under: .pathLengthOne) { $0[oid: CertificateExtension.basicConstraintsOID] = nil }
    }
    chain(
      "intermediate-key-usage", "The certificate between anchor and signer may not sign certificates.", "T14",
      [.certificateKeyUsage]
    ) {
      try $0.useIntermediate(under: .pathLengthOne) {
        $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.digitalSignature)
      }
    }
    chain("intermediate", "A certificate stands between anchor and signer.", "T12", [.pathLengthExceeded]) {
      try $0.useIntermediate(under: .good)
    }
    chain("intermediate-allowed", "A certificate stands between signer and an anchor that allows it.", "T12", []) {
      try $0.useIntermediate(under: .pathLengthOne)
    }
    chain(
      "intermediate-name-constraints",
      "The certificate between anchor and signer permits other names than the signer's, by constraints that are not "
        + "critical.",
      "T18", [.certificateConstrained]
    ) {
      var permitted = $0.signer.certificate.subject
      permitted.set(CertificateName.organization, to: DER.utf8String("mdoc Mock Somebody"))
      var constraints = CertificateExtension.nameConstraints(permitting: permitted)
      constraints.isCritical = false
      try $0.useIntermediate(under: .pathLengthOne) { $0.extensions.append(constraints) }
    }
    chain(
      "intermediate-policy-constraints",
      "The certificate between anchor and signer has policy constraints, not critical.", "T18",
      [.certificateConstrained]
    ) { try $0.useIntermediate(under: .pathLengthOne) { $0.extensions.append(.policyConstraints) } }
    chain(
      "intermediate-eku", "The certificate between anchor and signer is for issuing readers' certificates.", "T13",
      [.certificateExtendedKeyUsage]
    ) {
      try $0.useIntermediate(under: .pathLengthOne) {
        $0.extensions.append(.extendedKeyUsage([MockSigner.readerKeyUsage]))
      }
    }
    chain("intermediate-eku-any", "The certificate between anchor and signer names any extended key usage.", "T13", [])
    {
      // RFC 5280, 4.2.1.12: not critical where it names any.
      try $0.useIntermediate(under: .pathLengthOne) {
        $0.extensions.append(.extendedKeyUsage(["2.5.29.37.0"], isCritical: false))
      }
    }
    // The signer names no list, since none is published for an issuer of this name and key.
    MockVariant(
      "intermediate-self-issued",
      "The certificate between anchor and signer has the anchor's name and another key; the signer names no list.",
      warnings: [.profileRevocationSource],
      .setup {
        let root = try $0.authority.certificateIssuer(.pathLengthOne)
        try $0.useIntermediate(under: .pathLengthOne) { $0.subject = root.name }
        $0.signer.certificate.issuer = root.name
        $0.signer.setDistributionPoint(nil)
      })
    MockVariant(
      "anchor-name-constraints", "The anchor has name constraints, which the profile forbids.", cases: "T18",
      codes: [.certificateCriticalExtension], warnings: [.profileForbiddenExtension],
      .setup { try $0.useSigner(under: .nameConstrained) })
    chain("signer-self-signed", "The signer's certificate is signed by itself.", "T21", [.issuerUnknown]) {
      let own = CertificateIssuer(name: $0.signer.certificate.subject, key: $0.signer.key)
      try $0.useSigner(under: own)
    }
    MockVariant(
      "anchor-in-chain", "The anchor itself follows the signer in the x5chain.", cases: "T22",
      warnings: [.profileRootInChain], .setup { $0.signer.further = [try $0.authority.goodRoot(at: $0.now)] })
    chain("chain-100", "The x5chain has 100 certificates.", "T23", [.chainTooLong]) {
      let root = try $0.authority.goodRoot(at: $0.now)
      $0.signer.further = [[UInt8]](repeating: root, count: 99)
    }
    chain("chain-loop", "The signer's authority and another one issued each other.", "T23", [.issuerUnknown]) {
      try $0.useLoop()
    }
    chain(
      "anchor-other-doc-type", "The anchor is trusted for vehicle registrations only.", "T24",
      [.issuerNotTrustedForDocType]
    ) { try $0.useSigner(under: .otherDocType) }
  }

  private static func chain(
    _ name: String, _ summary: String, _ cases: String, _ codes: [Code],
    _ change: @escaping MockChange<AnswerSetup>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: codes, .setup(change))
  }
}

extension AnswerSetup {
  /// Takes a signer under an authority that is not trusted.
  mutating func useUnknownRoot() throws {
    try useSigner(
      under: CertificateIssuer(
        name: authority.name("mdoc Mock IACA that nobody trusts"),
        key: try authority.seed.key("unknown root", on: authority.issuerCurve)))
  }

  /// A chain of two authorities, each certified by the other, without an anchor.
  fileprivate mutating func useLoop() throws {
    let pair = try ["A", "B"].map {
      CertificateIssuer(
        name: authority.name("mdoc Mock loop \($0)"),
        key: try authority.seed.key("loop \($0)", on: authority.issuerCurve))
    }
    let validity = AnchorKind.good.validity(at: now)
    let certificates = try zip(pair, pair.reversed()).map { subject, issuer in
      var template = authority.rootTemplate(subject, from: validity.from, until: validity.until)
      template.issuer = issuer.name
      template.extensions.append(.authorityKeyIdentifier(issuer.keyIdentifier))
      return try template.signed(by: issuer.key)
    }
    try useSigner(under: pair[0])
    signer.further = certificates
  }
}

extension CertificateTemplate {
  /// Turns a certification authority's certificate into a document signer's.
  fileprivate mutating func makeSigner() {
    self[oid: CertificateExtension.basicConstraintsOID] = nil
    self[oid: CertificateExtension.keyUsageOID] = .keyUsage(.digitalSignature)
    extensions.append(.extendedKeyUsage([MockSigner.mDLKeyUsage]))
  }
}
