import Base
import Cryptography
import PKIX
import TestSupport
import Testing

@testable import Mock

/// Faults that make a certificate useless for its role fail; results for real certificates.
@Suite struct ProfileUseTests {
  let profile: ProfileMaker

  init() throws { profile = try ProfileMaker() }

  @Test func whatARoleNeedsFails() throws {
    let key = CertificateExtension.keyUsageOID
    let purposes = CertificateExtension.extendedKeyUsageOID
    #expect(try failures(.documentSigner) { $0[oid: key] = nil } == [.certificateKeyUsage])
    #expect(try failures(.documentSigner) { $0[oid: key] = .keyUsage(.keyCertSign) } == [.certificateKeyUsage])
    #expect(try failures(.iaca) { $0[oid: key] = .keyUsage(.crlSign) } == [.certificateKeyUsage])
    #expect(try failures(.vicalSigner) { $0[oid: key] = .keyUsage(.digitalSignature) } == [.certificateKeyUsage])
    #expect(try failures(.documentSigner) { $0[oid: purposes] = nil } == [.certificateExtendedKeyUsage])
    // A document signer that is certified as a reader.
    #expect(
      try failures(.documentSigner) {
        $0[oid: purposes] = .extendedKeyUsage(CertificateRole.readerAuthentication.extendedKeyUsages.sorted())
      } == [.certificateExtendedKeyUsage])
    #expect(
      try failures(.documentSigner) { $0.extensions.append(.basicConstraints(isCA: true, pathLength: nil)) }
        == [.certificateIsCA])
    #expect(
      try failures(.iacaLink) { $0[oid: CertificateExtension.basicConstraintsOID] = nil } == [.certificateIsCA])
    #expect(
      try failures(.documentSigner) { $0.signatureAlgorithm = .ecdsaWithSHA1 } == [.certificateAlgorithmUnsupported])
    #expect(
      try failures(.documentSigner) {
        $0.publicKeyInfo = SubjectPublicKeyInfo.rsa(modulus: .init(repeating: 9, count: 256)).der
      }
      .contains(.certificateAlgorithmUnsupported))
    #expect(
      try failures(.documentSigner) { $0.subject.set(CertificateName.country, to: DER.printableString("CA")) }
        == [.certificateJurisdictionMismatch])
  }

  @Test func aCertificateIsCurrentToTheSecond() throws {
    let (from, until) = (profile.maker.from, profile.maker.until)
    for (time, isCurrent) in [(from - 1, false), (from, true), (until, true), (until + 1, false)] {
      let codes = try profile.findings(.documentSigner, at: time).map(\.code)
      #expect(codes == (isCurrent ? [] : [.certificateExpired]))
    }
  }

  @Test func theIssuerAtHandMustBeTheIssuer() throws {
    let template = try profile.template(.documentSigner)
    let other = try PrivateKey(generatingOn: .p256)
    #expect(
      try profile.findings(.documentSigner, template.signed(by: other)).map(\.code) == [.certificateSignatureInvalid])
    #expect(
      try failures(.documentSigner) { $0.issuer.set(CertificateName.commonName, to: DER.utf8String("x")) }
        == [.nameChaining])
    #expect(
      try failures(.documentSigner) {
        $0[oid: CertificateExtension.authorityKeyIdentifierOID] = .authorityKeyIdentifier([1, 2, 3])
      } == [.nameChaining])
    #expect(
      try profile.findings(.iaca, profile.template(.iaca).signed(by: other)).map(\.code)
        == [.certificateSignatureInvalid])
  }

  @Test func withoutTheIssuerWhatDependsOnItIsNotRun() throws {
    let certificate = try Certificate(der: profile.template(.documentSigner).signed(by: profile.maker.root.key))
    let checks = CertificateProfile.check(certificate, as: .documentSigner, at: profile.maker.now)
    let notRun = Set(checks.filter { $0.outcome == .notRun }.map(\.code))
    #expect(
      notRun.isSuperset(of: [.nameChaining, .certificateSignatureInvalid, .certificateJurisdictionMismatch])
        && notRun.contains(.profileSignatureAlgorithm))
  }

  @Test func theIssuerIsTheOneThatSigned() throws {
    let signer = try Certificate(der: profile.template(.documentSigner).signed(by: profile.maker.root.key))
    let namesake = try ProfileMaker()
    let all = [signer, namesake.root, profile.root]
    #expect(CertificateProfile.issuer(of: signer, among: all)?.der == profile.root.der)
    #expect(CertificateProfile.issuer(of: signer, among: [signer, namesake.root])?.der == namesake.root.der)
    #expect(CertificateProfile.issuer(of: profile.root, among: all) == nil)
  }

  @Test(
    .enabled(if: PublishedVectors.areHere, "the published vectors are not here"),
    arguments: [
      (
        "apple-in-app/sample/issuer_root.crt", "2022-06-01",
        [.profileLifetime, .profileCountryMissing, .profileIssuerAltName, .profilePathLength]
      ),
      (
        "apple-in-app/sample/issuer_signing.crt", "2022-06-01",
        [
          .profileCriticality, .profileLifetime, .profileCountryMissing, .profileIssuerAltName,
          .profileRevocationSource,
        ]
      ),
      ("iso18013-5-annexD/D.5.2-iaca-cert.der", "2020-12-01", [.profileRevocationSource]),
      ("iso18013-5-annexD/D.5.2-ds-cert.der", "2020-12-01", [.profileRevocationSource]),
      ("iso18013-5-annexD/D.5.4-reader-cert.der", "2020-12-01", [.profileRevocationSource]),
      ("iso18013-7-annexB/iaca.pem", "2024-06-01", []),
      ("isomdl-certs/isomdl_iaca_root_cert.pem", "2024-02-01", []),
      ("isomdl-certs/isomdl_iaca_signer.pem", "2024-02-01", []),
      (
        "isomdl-certs/isomdl_incorrect_iaca_signer.pem", "2024-02-01",
        [
          .certificateKeyUsage, .profileIssuerAltName, .profileExtendedKeyUsage, .profileSubjectAltName,
        ]
      ),
      ("isomdl-certs/owf_multipaz_iaca_p384.pem", "2026-06-01", [.profileName]),
      ("isomdl-certs/reader_auth.pem", "2024-02-01", []),
      (
        "vical/aamva-dts-root.pem", "2025-12-01",
        [.profileLifetime, .profileIssuerAltName, .profilePathLength, .profileKeyUsage]
      ),
      (
        "vical/aamva_ca_intermediate.crt", "2025-12-01",
        [.profileIssuerAltName, .profileRevocationSource, .profileKeyUsage, .profileSubjectAltName]
      ),
    ] as [(String, String, [Code])])
  func whatPublishedCertificatesComeTo(file: String, day: String, codes: [Code]) throws {
    let bytes = try PublishedVectors.bytes(file)
    let der = bytes.first == 0x30 ? bytes : PEM.certificates(in: String(decoding: bytes, as: UTF8.self))?.first
    let certificate = try Certificate(der: try #require(der))
    let now = Timestamp(date: try #require(FullDate(day)))
    let checks = CertificateProfile.check(certificate, as: CertificateRole.guess(certificate).role, at: now)
    let found = checks.filter { $0.outcome == .failed || $0.outcome == .warning }.map(\.code)
    #expect(found == codes)
  }

  private func failures(_ role: CertificateRole, _ change: ProfileMaker.Change) throws -> [Code] {
    try profile.findings(role, at: nil, change).filter { $0.outcome == .failed }.map(\.code)
  }
}
