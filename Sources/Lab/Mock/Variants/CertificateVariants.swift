import Base
import Cryptography

extension MockVariant {
  /// Wrong document signer certificates under the good anchor (ISO/IEC 18013-5, B.1.4; RFC 5280).
  @MockVariantList static var certificates: [MockVariant] {
    MockVariant(
      "signer-expired", "The signer's certificate expired a day ago, after it signed.", cases: "T06",
      codes: [.certificateExpired], warnings: [.validityExceedsCertificate],
      .setup {
        $0.signer.certificate.notAfter = $0.now - Seconds.day
        $0.setValidity(signed: -20 * Seconds.day, from: -20 * Seconds.day, until: 10 * Seconds.day)
      })
    MockVariant(
      "signer-not-yet-valid", "The signer's certificate becomes valid in a day.", cases: "T06",
      codes: [.certificateExpired, .signedOutsideCertificate],
      .setup { $0.signer.certificate.notBefore = $0.now + Seconds.day })
    signer("signer-is-ca", "The signer's certificate has the CA flag.", "T11", [.certificateIsCA]) {
      $0.extensions.append(.basicConstraints(isCA: true, pathLength: nil))
    }
    usage("signer-eku-missing", "The certificate has no extended key usage.", nil)
    usage("signer-eku-tls", "The certificate is for TLS servers.", .extendedKeyUsage(["1.3.6.1.5.5.7.3.1"]))
    usage(
      "signer-eku-reader", "The certificate is for mdoc readers.", .extendedKeyUsage([MockSigner.readerKeyUsage]))
    MockVariant(
      "signer-eku-not-critical", "The extended key usage is not critical.", cases: "T13",
      warnings: [.profileCriticality],
      certificate {
        $0[oid: CertificateExtension.extendedKeyUsageOID]?.isCritical = false
      })
    signer("signer-key-usage-missing", "The certificate has no key usage.", "T14", [.certificateKeyUsage]) {
      $0[oid: CertificateExtension.keyUsageOID] = nil
    }
    signer("signer-key-usage-cert-sign", "The key may sign certificates only.", "T14", [.certificateKeyUsage]) {
      $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign)
    }
    profile("signer-key-usage-not-critical", "The key usage is not critical.", "T13", .profileCriticality) {
      $0[oid: CertificateExtension.keyUsageOID]?.isCritical = false
    }
    profile("signer-lifetime", "The certificate is valid for 458 days.", "T15", .profileLifetime) {
      $0.notAfter = $0.notBefore + 458 * Seconds.day
    }
    MockVariant(
      "signer-country", "The signer's country is not its authority's.", cases: "T16",
      codes: [.certificateJurisdictionMismatch],
      .setup {
        $0.signer.certificate.subject.set(CertificateName.country, to: DER.printableString("CA"))
        $0.data[$0.mainNamespace, "issuing_country"] = "CA"
      })
    MockVariant(
      "signer-state", "The signer's state is not its authority's.", cases: "T16",
      codes: [.certificateJurisdictionMismatch],
      .setup {
        $0.signer.certificate.subject.set(CertificateName.stateOrProvince, to: DER.utf8String("US-NV"))
        $0.data[$0.mainNamespace, "issuing_jurisdiction"] = "US-NV"
      })
    profile("signer-country-missing", "The signer's certificate names no country.", "", .profileCountryMissing) {
      $0.subject.set(CertificateName.country, to: nil)
    }
    signer(
      "signer-critical-extension", "The certificate has an unknown critical extension.", "T17",
      [.certificateCriticalExtension]
    ) { $0.extensions.append(unknownExtension(critical: true, bytes: 2)) }
    MockVariant(
      "signer-decoy-key", "Another public key stands, as data, before the certificate's own.", cases: "T20",
      .setup {
        let decoy = try $0.authority.seed.key("decoy", on: $0.authority.issuerCurve).publicKey
        $0.signer.certificate.subject.attributes.insert(
          (CertificateName.uniqueIdentifier, DER.bitString(SubjectPublicKeyInfo.der(of: decoy))), at: 0)
      })
    profile("signer-serial-negative", "The serial number is negative.", "T26", .profileSerialNumber) {
      $0.serialNumber = [0xc5] + [UInt8](repeating: 0x5c, count: 15)
    }
    profile("signer-serial-21-octets", "The serial number has 21 octets.", "T26", .profileSerialNumber) {
      $0.serialNumber = [0x45] + [UInt8](repeating: 0x5c, count: 20)
    }
    MockVariant(
      "signer-self-issued", "The signer has the name of its authority, which has signed its certificate.",
      certificate { $0.subject = $0.issuer })
    MockVariant(
      "signer-trailing-bytes", "A byte follows the certificate.", cases: "T26", codes: [.certificateMalformed],
      .setup { setup in setup.signer.finish = { $0 + [0x00] } })
    profile("signer-serial-zero", "The serial number is zero.", "", .profileSerialNumber) { $0.serialNumber = [0] }
    profile("signer-without-ski", "There is no subject key identifier.", "", .profileKeyIdentifiers) {
      $0[oid: CertificateExtension.subjectKeyIdentifierOID] = nil
    }
    profile("signer-without-aki", "There is no authority key identifier.", "", .profileKeyIdentifiers) {
      $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil
    }
    profile("signer-without-ian", "There is no issuer alternative name.", "", .profileIssuerAltName) {
      $0[oid: CertificateExtension.issuerAltNameOID] = nil
    }
    profile("signer-without-crldp", "There is no CRL distribution point.", "", .profileRevocationSource) {
      $0[oid: CertificateExtension.crlDistributionPointsOID] = nil
    }
    profile("signer-forbidden-extension", "There are policy constraints.", "", .profileForbiddenExtension) {
      $0.extensions.append(.policyConstraints)
    }
    signer("signer-20-kilobytes", "The certificate has more than 20,000 bytes.", "T23", [.chainTooLong]) {
      $0.extensions.append(unknownExtension(critical: false, bytes: 20_000))
    }
    signer("signer-1-megabyte", "The certificate has a million bytes.", "T23", [.chainTooLong]) {
      $0.extensions.append(unknownExtension(critical: false, bytes: 1_000_000))
    }
  }

  private static func certificate(_ change: @escaping @Sendable (inout CertificateTemplate) -> Void) -> MockMutation {
    .setup { change(&$0.signer.certificate) }
  }

  private static func signer(
    _ name: String, _ summary: String, _ cases: String, _ codes: [Code],
    _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: codes, certificate(change))
  }

  private static func profile(
    _ name: String, _ summary: String, _ cases: String, _ warning: Code,
    _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, warnings: [warning], certificate(change))
  }

  private static func usage(_ name: String, _ summary: String, _ usage: CertificateExtension?) -> MockVariant {
    signer(name, summary, "T13", [.certificateExtendedKeyUsage]) {
      $0[oid: CertificateExtension.extendedKeyUsageOID] = usage
    }
  }

  private static func unknownExtension(critical: Bool, bytes: Int) -> CertificateExtension {
    CertificateExtension(
      oid: "1.3.6.1.4.1.99999.18013.9", isCritical: critical, value: DER.octetString(.zeros(bytes)))
  }
}

extension MockVariant {
  /// Certificates with keys and signatures that the standard does not allow (ISO/IEC 18013-5, B.1).
  @MockVariantList static var certificateKeys: [MockVariant] {
    key("signer-key-rsa", "The certificate's key is RSA.") { _ in
      // Any odd number of 2048 bits will do, since nothing is verified with it.
      SubjectPublicKeyInfo.rsa(modulus: [0xc3] + (0..<254).map { UInt8(truncatingIfNeeded: $0 * 73 + 41) } + [0x0d])
    }
    key("signer-key-p192", "The certificate's key is on P-192.") { _ in
      SubjectPublicKeyInfo.ec(
        parameters: DER.objectIdentifier("1.2.840.10045.3.1.1"),
        point: bytes(
          "04188da80eb03090f67cbf20eb43a18800f4ff0afd82ff101207192b95ffc8da78631011ed6b24cdd573f977a11e794811"))
    }
    MockVariant(
      "signer-key-explicit-parameters", "The certificate's P-256 key spells its curve's parameters out.", cases: "T19",
      codes: [.certificateAlgorithmUnsupported],
      .setup {
        try $0.useSigner(on: .p256)
        $0.signer.certificate.certify(.ec(parameters: p256Parameters, point: $0.signer.key.publicKey.encoded))
      })
    MockVariant(
      "signer-signature-sha-1", "The certificate is signed with ecdsa-with-SHA1.", cases: "T19",
      codes: [.certificateAlgorithmUnsupported],
      .setup {
        // An EdDSA key cannot sign with SHA-1. The certificate then only names the algorithm.
        $0.signer.certificate.signatureAlgorithm = .ecdsaWithSHA1
        if $0.signer.issuerKey.curve.family != .weierstrass {
          $0.signer.certificate.signatureAlgorithm?.hash = nil
        }
      })
  }

  private static func key(
    _ name: String, _ summary: String, _ info: @escaping @Sendable (AnswerSetup) -> SubjectPublicKeyInfo
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "T19", codes: [.certificateAlgorithmUnsupported],
      .setup { $0.signer.certificate.certify(info($0)) })
  }

  private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  /// ECParameters with all parameters of P-256 written out (SEC 1, C.2).
  private static var p256Parameters: [UInt8] {
    let prime = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    let a = bytes("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")
    let b = bytes("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")
    let generator = bytes(
      "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    return DER.sequence(
      DER.integer([1]),
      DER.sequence(DER.objectIdentifier("1.2.840.10045.1.1"), DER.unsignedInteger(prime)),
      DER.sequence(DER.octetString(a), DER.octetString(b)),
      DER.octetString(generator),
      DER.unsignedInteger(order),
      DER.integer([1]))
  }
}
