import Base
import Cryptography
import PKIX
import Testing

@testable import Mock

/// Revocation lists of the mock authority, each wrong in one respect, and their findings.
@Suite struct CRLTests {
  let authority: MockAuthority
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let anchor: Certificate
  let signer: Certificate

  init() throws {
    authority = try MockAuthority(seed: [1, 2, 3])
    anchor = try Certificate(der: authority.anchor(at: now).certificate)
    let issuer = try authority.certificateIssuer(.good)
    let made = try MockSigner(authority: authority, under: issuer, curve: .p256, at: now)
    signer = try Certificate(der: try #require(try made.chain().first))
  }

  @Test(arguments: MockList.all(.crl).map(\.name))
  func everyListComesToItsOutcome(name: String) throws {
    let list = try #require(MockList.named(name))
    #expect(try outcome(list.published(by: authority, now: now)) == list.code, "\(list.summary)")
  }

  @Test(
    arguments: [
      ("crl-bad-signature", .signatureInvalid), ("crl-unsigned", .signatureInvalid),
      ("crl-signed-by-another", .signatureInvalid), ("crl-other-issuer", .otherIssuer),
      ("crl-other-key-identifier", .otherKey), ("crl-two-algorithms", .algorithmUnsupported),
      ("crl-without-next-update", .withoutNextUpdate), ("crl-ends-before-it-begins", .malformed),
      ("crl-indirect", .indirect), ("crl-indirect-entry", .indirect), ("crl-delta", .delta),
      ("crl-distribution-point", .scoped), ("crl-distribution-point-not-critical", .scoped),
      ("crl-removal", .removal), ("crl-version-1", .versionUnsupported),
      ("crl-critical-extension", .criticalExtension("1.3.6.1.4.1.99999.18013.9")),
      ("crl-critical-entry-extension", .criticalExtension("1.3.6.1.4.1.99999.18013.9")),
      ("crl-trailing-bytes", .malformed), ("crl-too-large", .tooLarge),
    ] as [(String, CRLError)])
  func everyRefusalSaysWhy(name: String, reason: CRLError) throws {
    let list = try #require(MockList.named(name)).published(by: authority, now: now)
    #expect(throws: reason) { try VerifiedCRL(verifying: list, issuer: anchor, at: now) }
    #expect(!reason.detail.isEmpty)
  }

  @Test func aListHoldsFromItsDateToItsNextUpdateToTheSecond() throws {
    let bytes = try MockList.good(.crl).published(by: authority, now: now)
    let list = try VerifiedCRL(verifying: bytes, issuer: anchor, at: now)
    #expect(list.nextUpdate - 90 * Seconds.day == list.thisUpdate)
    for time in [list.thisUpdate, list.nextUpdate] {
      #expect(try VerifiedCRL(verifying: bytes, issuer: anchor, at: time).count == 0)
    }
    #expect(throws: CRLError.issuedInFuture(list.thisUpdate)) {
      try VerifiedCRL(verifying: bytes, issuer: anchor, at: list.thisUpdate - 1)
    }
    #expect(throws: CRLError.expired(list.nextUpdate)) {
      try VerifiedCRL(verifying: bytes, issuer: anchor, at: list.nextUpdate + 1)
    }
  }

  @Test func anAuthorityMustBeAllowedToSignLists() throws {
    let issuer = try authority.certificateIssuer(.good)
    let bytes = try MockList.good(.crl).published(by: authority, now: now)
    for usage in [CertificateExtension.keyUsage(.keyCertSign), nil] {
      var template = try authority.anchorTemplate(.good, at: now)
      template[oid: CertificateExtension.keyUsageOID] = usage
      let certificate = try Certificate(der: template.signed(by: issuer.key))
      #expect(throws: CRLError.issuerMayNotSign) { try VerifiedCRL(verifying: bytes, issuer: certificate, at: now) }
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func aListMayBeSignedOnEveryCurve(curve: Curve) throws {
    let authority = try MockAuthority(seed: [4], issuerCurve: curve)
    let anchor = try Certificate(der: authority.anchor(at: now).certificate)
    let list = try MockList.good(.crl).published(by: authority, now: now)
    #expect(try VerifiedCRL(verifying: list, issuer: anchor, at: now).count == 0)
    #expect(throws: CRLError.self) { try VerifiedCRL(verifying: list, issuer: self.anchor, at: now) }
  }

  @Test func aListMayBeInPEMAlone() throws {
    let der = try MockList.all(.crl)[1].published(by: authority, now: now)
    let pem = block("X509 CRL", der)
    #expect(try VerifiedCRL(verifying: Array(pem.utf8), issuer: anchor, at: now).count == 3)
    #expect(try VerifiedCRL(verifying: Array("A list:\n\(pem)\n".utf8), issuer: anchor, at: now).count == 3)
    for text in [pem + pem, block("CERTIFICATE", anchor.der) + pem, block("CERTIFICATE", der), "", "none"] {
      #expect(throws: CRLError.malformed) { try VerifiedCRL(verifying: Array(text.utf8), issuer: anchor, at: now) }
    }
  }

  @Test func aCutListIsMalformedAtEveryByte() throws {
    let der = try #require(MockList.named("crl-signer-revoked")).published(by: authority, now: now)
    for length in 0..<der.count {
      #expect(throws: CRLError.malformed) { try VerifiedCRL(verifying: Array(der[..<length]), issuer: anchor, at: now) }
    }
  }

  @Test func aListWithAnyBitTurnedIsRefused() throws {
    let der = try #require(MockList.named("crl-signer-revoked")).published(by: authority, now: now)
    for index in der.indices {
      var bytes = der
      bytes[index] ^= 1 << UInt8(index % 8)
      #expect(throws: CRLError.self) { try VerifiedCRL(verifying: bytes, issuer: anchor, at: now) }
    }
  }

  /// OpenSSL reads it, and the signature still verifies.
  @Test func aListThatIsNotDERIsMalformed() throws {
    let der = try #require(MockList.named("crl-signer-revoked")).published(by: authority, now: now)
    #expect(der[..<2] == [0x30, 0x82])
    #expect(throws: CRLError.malformed) {
      try VerifiedCRL(verifying: [0x30, 0x83, 0x00] + der[2...], issuer: anchor, at: now)
    }
  }

  /// It is undefined which of the two applies (RFC 5280, 4.2).
  @Test func anExtensionThatStandsTwiceMakesItMalformed() throws {
    let issuer = try authority.certificateIssuer(.good)
    let good = RevocationListTemplate(issuer: issuer, at: now)
    var list = good
    list.extensions += good.extensions.suffix(1)
    #expect(throws: CRLError.malformed) { try VerifiedCRL(verifying: list.der(), issuer: anchor, at: now) }
    list = good
    list.entries = [.init(serialNumber: [0x01], date: now, extensions: [Self.reason(1)])]
    #expect(try VerifiedCRL(verifying: list.der(), issuer: anchor, at: now).count == 1)
    list.entries[0].extensions.append(Self.reason(6))
    #expect(throws: CRLError.malformed) { try VerifiedCRL(verifying: list.der(), issuer: anchor, at: now) }
  }

  private static func reason(_ code: UInt8) -> CertificateExtension {
    CertificateExtension(oid: "2.5.29.21", isCritical: false, value: DER.element(0x0a, [code]))
  }

  @Test func anUnverifiedListHasTheSameBound() {
    let bytes = [UInt8](repeating: 0, count: Limits.listBytes + 1)
    #expect(throws: CRLError.tooLarge) { try UnverifiedCRL(parsing: bytes) }
    #expect(throws: CRLError.malformed) { try UnverifiedCRL(parsing: bytes.dropLast()) }
  }

  @Test func aListOfThousandsIsSearchedByNumber() throws {
    let issuer = try authority.certificateIssuer(.good)
    var list = RevocationListTemplate(issuer: issuer, at: now)
    for number in 0..<5_000 {
      list.entries.append(.init(serialNumber: [0x01, UInt8(number >> 8), UInt8(number & 0xff)], date: now))
    }
    let verified = try VerifiedCRL(verifying: try list.der(), issuer: anchor, at: now)
    #expect(verified.count == 5_000)
    #expect(verified.contains(serial: [0x01, 0x13, 0x87]) && !verified.contains(serial: [0x01, 0x13, 0x88]))
    #expect(!verified.contains(serial: signer.serialNumber))
  }

  private func outcome(_ bytes: [UInt8]) -> Code? {
    do throws(CRLError) {
      let list = try VerifiedCRL(verifying: bytes, issuer: anchor, at: now)
      if list.contains(serial: anchor.serialNumber) { return Code(named: "revocation.authority_revoked") }
      return list.contains(serial: signer.serialNumber) ? Code(named: "revocation.signer_revoked") : nil
    } catch {
      return Code(named: error == .tooLarge ? "revocation.list_too_large" : "revocation.crl_invalid")
    }
  }

  private func block(_ label: String, _ der: [UInt8]) -> String {
    PEM.encode(certificate: der).replacing("CERTIFICATE", with: label)
  }
}
