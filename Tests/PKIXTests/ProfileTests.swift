import Base
import Cryptography
import PKIX
import Testing

@testable import Mock

/// The profiles of ISO/IEC 18013-5, Annexes B and C: each broken rule is found by only its code.
@Suite struct ProfileTests {
  let profile: ProfileMaker

  init() throws { profile = try ProfileMaker() }

  @Test(arguments: CertificateRole.allCases)
  func aCertificateByTheProfileHasNoFinding(role: CertificateRole) throws {
    #expect(try profile.findings(role) == [])
  }

  @Test(arguments: CertificateRole.allCases)
  func aRoleIsGuessedFromTheCertificate(role: CertificateRole) throws {
    let certificate = try Certificate(der: profile.template(role).signed(by: profile.maker.root.key))
    let guess = CertificateRole.guess(certificate)
    // Without an extended key usage, a signer of status lists looks like any other.
    #expect(guess.role == (role == .statusListSigner ? .documentSigner : role), "\(guess.reason)")
  }

  @Test func theFieldsOfACertificate() throws {
    try expect(.profileVersion, .documentSigner) { $0.version = 1 }
    try expect(.profileSerialNumber, .documentSigner) { $0.serialNumber = [0x00] }
    try expect(.profileSerialNumber, .iaca) { $0.serialNumber = [UInt8](repeating: 0x11, count: 7) }
    for role in [CertificateRole.documentSigner, .ocspResponder] {
      try expectLifetime(role, days: 457)
    }
    for role in [CertificateRole.readerAuthentication, .vicalSigner, .statusListSigner] {
      try expectLifetime(role, days: 1_187)
    }
    try expectLifetime(.iaca, days: 7_305)
    let start = profile.maker.from
    try expect(.profileLifetime, .iacaLink) { $0.notAfter = start + 301 * Seconds.day + 100 * Seconds.day }
    let compressed = [2 + (profile.key.publicKey.encoded.last ?? 0) % 2] + profile.key.publicKey.encoded[1..<33]
    try expect(.profilePublicKey, .documentSigner) {
      $0.certify(.ec(parameters: DER.objectIdentifier("1.2.840.10045.3.1.7"), point: compressed))
    }
    try expectKey(on: .ed25519, as: .vicalSigner, .profilePublicKey)
    try expectKey(on: .x25519, as: .documentSigner, .profilePublicKey)
    try expectKey(on: .ed448, as: .documentSigner, nil)
    try expect(.profileSignatureAlgorithm, .documentSigner) {
      $0.signatureAlgorithm = CertificateAlgorithm(oid: "1.2.840.10045.4.3.3", hash: .sha384)
    }
    let edwards = try ProfileMaker(curve: .ed25519)
    #expect(try edwards.findings(.documentSigner).map(\.code) == [.profileSignatureAlgorithm])
    try expect(.profileKeyIdentifierValue, .documentSigner) {
      $0[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier([UInt8](repeating: 1, count: 20))
    }
  }

  @Test func theNamesOfACertificate() throws {
    let organization = CertificateName.organization
    try expect(.profileName, .documentSigner) { $0.subject.set(CertificateName.commonName, to: nil) }
    try expect(.profileName, .readerAuthentication) { $0.subject.set(CertificateName.commonName, to: nil) }
    try expect(.profileName, .vicalSigner) { $0.subject.set(organization, to: nil) }
    for country in [DER.printableString("Us"), DER.printableString("USA"), DER.utf8String("US")] {
      let ca = try ProfileMaker()
      var template = try ca.template(.iaca)
      template.subject.set(CertificateName.country, to: country)
      template.issuer = template.subject
      #expect(try ca.findings(.iaca, template.signed(by: ca.maker.root.key)).map(\.code) == [.profileName])
    }
    try expect(.profileName, .documentSigner) {
      $0.subject.attributes.append((CertificateName.commonName, DER.utf8String("another")))
    }
    try expect(.profileName, .documentSigner, issuerState: "US-UT") { _ in }
    try expect(.profileName, .iaca) { $0.issuer.set(CertificateName.commonName, to: DER.utf8String("another")) }
    try expect(.profileCountryMissing, .documentSigner) { $0.subject.set(CertificateName.country, to: nil) }
    try expect(nil, .readerAuthentication) { $0.subject.set(CertificateName.country, to: nil) }
    try expect(.profileCountryMissing, .vicalSigner) { $0.subject.set(CertificateName.country, to: nil) }
  }

  @Test func theExtensionsOfACertificate() throws {
    try expect(.profilePathLength, .iaca) {
      $0[oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: nil)
    }
    try expect(.profilePathLength, .iacaLink) {
      $0[oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: 1)
    }
    try expect(.profileKeyUsage, .documentSigner) {
      $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.digitalSignature, .nonRepudiation)
    }
    try expect(.profileKeyUsage, .iaca) { $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign) }
    try expect(.profileExtendedKeyUsage, .documentSigner) {
      $0[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(["1.0.18013.5.1.2", "1.3.6.1.5.5.7.3.1"])
    }
    try expect(.profileExtendedKeyUsage, .iaca) {
      $0.extensions.append(.extendedKeyUsage(["1.0.18013.5.1.7"], isCritical: false))
    }
    try expect(.profileSubjectAltName, .iacaLink) { $0[oid: "2.5.29.17"] = nil }
    try expect(.profileSubjectAltName, .iacaLink) {
      $0[oid: "2.5.29.17"] = ProfileMaker.subjectAltName(DER.implicit(6, Array("https://ca.example".utf8)))
    }
    for role in [CertificateRole.iacaLink, .documentSigner, .readerAuthentication, .vicalSigner] {
      try expect(.profileRevocationSource, role) { $0[oid: CertificateExtension.crlDistributionPointsOID] = nil }
      try expect(.profileKeyIdentifiers, role) { $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil }
    }
    try expect(.profileKeyIdentifiers, .iaca) { $0[oid: CertificateExtension.subjectKeyIdentifierOID] = nil }
    try expect(nil, .iaca) { $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil }
    for oid in ["2.5.29.33", "2.5.29.36", "2.5.29.46", "2.5.29.54"] {
      try expect(.profileForbiddenExtension, .documentSigner) {
        $0.extensions.append(CertificateExtension(oid: oid, isCritical: false, value: Self.harmless(oid)))
      }
    }
  }

  @Test func theCriticalityOfExtensions() throws {
    let usual: [(CertificateRole, [String])] = [
      (.iaca, [CertificateExtension.basicConstraintsOID, CertificateExtension.keyUsageOID]),
      (.documentSigner, [CertificateExtension.extendedKeyUsageOID, CertificateExtension.keyUsageOID]),
      (.vicalSigner, [CertificateExtension.extendedKeyUsageOID]),
    ]
    for (role, oids) in usual {
      for oid in oids { try expect(.profileCriticality, role) { $0[oid: oid]?.isCritical = false } }
    }
    for oid in [
      CertificateExtension.subjectKeyIdentifierOID, CertificateExtension.authorityKeyIdentifierOID,
      CertificateExtension.issuerAltNameOID, CertificateExtension.crlDistributionPointsOID,
    ] {
      try expect(.profileCriticality, .documentSigner) { $0[oid: oid]?.isCritical = true }
    }
    try expect(.certificateCriticalExtension, .documentSigner, outcome: .failed) {
      $0.extensions.append(CertificateExtension(oid: "1.2.3.4", isCritical: true, value: DER.null))
    }
    try expect(nil, .documentSigner) {
      $0.extensions.append(CertificateExtension(oid: "1.2.3.4", isCritical: false, value: DER.null))
    }
  }

  /// The forms of RFC 5280, 4.2.1.13 that name no address, which differ from an absent distribution point.
  @Test func theFormsOfADistributionPoint() throws {
    let uri = ProfileMaker.fullName(DER.implicit(6, Array("https://ca.example/crl".utf8)))
    let name = DER.explicit(4, profile.maker.root.name.der)
    let forms: [(CertificateExtension, CRLDistributionPoints.Flaw)] = [
      (ProfileMaker.distributionPoint(ProfileMaker.fullName(DER.implicit(2, Array("ca.example".utf8)))), .dNSName),
      (ProfileMaker.distributionPoint(ProfileMaker.fullName(name)), .directoryName),
      (ProfileMaker.distributionPoint(ProfileMaker.fullName(DER.implicit(7, [127, 0, 0, 1]))), .otherName),
      (ProfileMaker.distributionPoint(uri, DER.implicit(1, [0x06, 0x40])), .reasons),
      (ProfileMaker.distributionPoint(uri, DER.explicit(2, name)), .cRLIssuer),
      (ProfileMaker.distributionPoint(DER.explicit(2, name)), .noName),
    ]
    for (form, flaw) in forms {
      var template = try profile.template(.documentSigner)
      template[oid: CertificateExtension.crlDistributionPointsOID] = form
      let der = try template.signed(by: profile.maker.root.key)
      let points = try #require(try Certificate(der: der).extensions.crlDistributionPoints)
      #expect(points.flaws.contains(flaw) && !points.isUsable)
      let findings = try profile.findings(.documentSigner, der)
      #expect(findings.map(\.code) == [.profileRevocationSource])
      #expect(findings.first?.detail?.contains(flaw.rawValue) == true)
    }
    let good = try Certificate(der: profile.template(.documentSigner).signed(by: profile.maker.root.key)).extensions
    #expect(good.crlDistributionPoints?.uris == ["https://ca.example/crl"] && good.crlDistributionPoints?.flaws == [])
    #expect(profile.root.extensions.crlDistributionPoints == nil)
  }

  @Test func theIssuersAlternativeName() throws {
    let absent: CertificateExtension? = nil
    let names: [CertificateExtension?] = [
      absent, ProfileMaker.issuerAltName(DER.implicit(2, Array("ca.example".utf8))), ProfileMaker.issuerAltName([]),
      ProfileMaker.issuerAltName(DER.implicit(6, [])), ProfileMaker.issuerAltName(DER.utf8String("malformed")),
    ]
    for name in names {
      try expect(.profileIssuerAltName, .documentSigner) { $0[oid: CertificateExtension.issuerAltNameOID] = name }
    }
    try expect(nil, .documentSigner) {
      $0[oid: CertificateExtension.issuerAltNameOID] =
        ProfileMaker.issuerAltName(DER.implicit(1, Array("ca@ca.example".utf8)))
    }
    try expect(nil, .vicalSigner) { $0[oid: CertificateExtension.issuerAltNameOID] = nil }
  }

  private func expectLifetime(_ role: CertificateRole, days: Int64) throws {
    let start = profile.maker.from
    try expect(nil, role) { $0.notAfter = start + days * Seconds.day }
    try expect(.profileLifetime, role) { $0.notAfter = start + days * Seconds.day + 1 }
  }

  private func expectKey(on curve: Curve, as role: CertificateRole, _ code: Code?) throws {
    let key = try #require(
      curve == .x25519
        ? try PublicKey(curve: curve, encoded: [9] + [UInt8](repeating: 0, count: 31))
        : try PrivateKey(generatingOn: curve).publicKey)
    try expect(code, role) {
      $0.publicKeyInfo = SubjectPublicKeyInfo.der(of: key)
      $0[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier(
        HashAlgorithm.sha1.hash(key.encoded))
    }
  }

  private func expect(
    _ code: Code?, _ role: CertificateRole, outcome: Check.Outcome = .warning, issuerState: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ change: ProfileMaker.Change
  ) throws {
    var template = try profile.template(role)
    change(&template)
    var issuer = role == .iaca ? nil : profile.root
    if let issuerState {
      var parent = profile.maker.rootTemplate()
      parent.subject.set(CertificateName.stateOrProvince, to: DER.utf8String(issuerState))
      parent.issuer = parent.subject
      template.issuer = parent.subject
      issuer = try Certificate(der: parent.signed(by: profile.maker.root.key))
    }
    let certificate = try Certificate(der: template.signed(by: profile.maker.root.key))
    let found = CertificateProfile.check(certificate, as: role, issuer: issuer, at: profile.maker.now)
      .filter { $0.outcome == .failed || $0.outcome == .warning }
    #expect(found.map(\.code) == (code.map { [$0] } ?? []), sourceLocation: sourceLocation)
    #expect(found.allSatisfy { $0.outcome == outcome && $0.detail != nil }, sourceLocation: sourceLocation)
  }

  private static func harmless(_ oid: String) -> [UInt8] {
    switch oid {
    case "2.5.29.33":
      DER.sequence(DER.sequence(DER.objectIdentifier("1.2.3"), DER.objectIdentifier("1.2.4")))
    case "2.5.29.54": DER.integer([0])
    case "2.5.29.46": ProfileMaker.distributionPoint(ProfileMaker.fullName(DER.implicit(6, [0x61]))).value
    default: DER.sequence(DER.implicit(0, [0x00]))
    }
  }
}
