import Base
import Cryptography
import Testing

@testable import Mock
@testable import PKIX

/// Certificates by their bytes: exactly one DER certificate, or none.
@Suite struct EncodingTests {
  let maker: CertificateMaker

  init() throws { maker = try CertificateMaker() }

  @Test func aCutCertificateIsMalformedAtEveryByte() throws {
    let der = try maker.signer()
    for length in 0..<der.count { #expect(!isReadable(Array(der[..<length]))) }
    #expect(isReadable(der))
  }

  @Test(arguments: [[0x00], [0x30, 0x00], [0x0a]] as [[UInt8]])
  func trailingBytesAreMalformed(trailer: [UInt8]) throws {
    #expect(try !isReadable(maker.signer() + trailer))
  }

  /// None of this is signed: OpenSSL reads them all, and the signature still verifies.
  @Test func encodingsThatAreNotDERAreMalformed() throws {
    let der = try maker.signer()
    #expect(der[..<2] == [0x30, 0x82])
    #expect(!isReadable([0x30, 0x83, 0x00] + der[2...]))
    #expect(!isReadable([0x30, 0x84, 0x00, 0x00] + der[2...]))
    #expect(!isReadable([0x30, 0x80] + der[4...] + [0x00, 0x00]))
    // The signature's bit string, constructed of two pieces.
    let template = try maker.signerTemplate()
    let whole = try template.signed(by: maker.root.key)
    // An ECDSA signature is below 128 bytes: its length is one byte, its first bits are all used, and it is a sequence.
    let signature = try #require(
      whole.indices.dropLast(3).last {
        whole[$0] == 0x03 && Int(whole[$0 + 1]) == whole.count - $0 - 2 && whole[$0 + 2] == 0 && whole[$0 + 3] == 0x30
      })
    let content = Array(whole[(signature + 3)...])
    let pieces = DER.element(
      0x23, DER.bitString(Array(content[..<10])) + DER.bitString(Array(content[10...])))
    let body = Array(whole[4..<signature]) + pieces
    #expect(!isReadable(DER.element(0x30, body)))
  }

  @Test func aCertificateLargerThanTheLimitIsMalformed() throws {
    let der = try maker.signer { template in
      let filler = [UInt8](repeating: 0, count: Limits.certificateBytes)
      template.extensions.append(CertificateExtension(oid: "1.2.3.4", isCritical: false, value: filler))
    }
    #expect(!isReadable(der))
  }

  @Test(
    arguments: [
      ([0x01], true), ([0x00], true), ([0x7f] + zeros(19), true), ([0x00, 0xff] + zeros(19), true),
      ([0xff], true), ([0x80] + zeros(19), true), ([0x7f] + zeros(20), true), ([0x00, 0xff] + zeros(20), true),
      ([0x00, 0x01], false), ([], false),
    ] as [([UInt8], Bool)])
  func everySerialNumberInDERIsReadable(number: [UInt8], isReadable: Bool) throws {
    let der = try maker.signer { $0.serialNumber = number }
    #expect(self.isReadable(der) == isReadable)
  }

  @Test(
    arguments: [
      ([0x00], "zero"), ([0xc5] + zeros(15), "negative"), ([0xff], "negative; 1 octets; at least 8 are required"),
      ([0x45] + zeros(20), "21 octets; at most 20 are allowed"),
    ] as [([UInt8], String)])
  func aSerialNumberThatIsNotPositiveOrTooLongIsAFindingOfTheProfile(number: [UInt8], finding: String) throws {
    let validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    let signer = try maker.signer { $0.serialNumber = number }
    let evaluation = validator.evaluate(
      chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    let check = evaluation.checks.first { $0.code == .profileSerialNumber }
    #expect(check?.outcome == .warning)
    #expect(check?.detail?.contains(finding.split(separator: ";")[0]) == true)
  }

  @Test func aDeviationOfTheAuthorityIsAFindingWithItsName() throws {
    let anchor = try maker.anchor { $0.serialNumber = [0x11] }
    let evaluation = PathValidator(anchors: [anchor], allowsTestCertificates: false).evaluate(
      chain: [try maker.signer()[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    let check = evaluation.checks.first { $0.code == .profileSerialNumber }
    #expect(check?.outcome == .warning)
    #expect(check?.detail?.hasPrefix(anchor.certificate.label) == true, "\(check?.detail ?? "")")
  }

  /// Its number may be negative, or may only lack the leading zero octet: an authority could list either number.
  @Test func aNegativeNumberIsFoundOnARevocationListInBothSpellings() throws {
    let signer = try Certificate(der: maker.signer { $0.serialNumber = [0xc5] + zeros(15) })
    #expect(signer.hasNegativeSerialNumber && signer.serialNumber == [0xc5] + zeros(15))
    let root = try maker.anchor { $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign, .crlSign) }
    for (number, isListed) in [
      ([0xc5] + zeros(15), true), ([0x00, 0xc5] + zeros(15), true), ([0xc5] + zeros(14) + [0x01], false),
    ] as [([UInt8], Bool)] {
      var list = RevocationListTemplate(issuer: maker.root, at: maker.now)
      list.entries.append(.init(serialNumber: number, date: maker.now))
      let verified = try VerifiedCRL(verifying: try list.der(), issuer: root.certificate, at: maker.now)
      #expect(verified.contains(serial: signer.serialNumber) == isListed)
    }
  }

  @Test func whyACertificateCannotBeReadIsSaid() throws {
    func fault(_ der: [UInt8]) -> CertificateError? {
      do throws(CertificateError) { _ = try Certificate(der: der) } catch { return error }
      return nil
    }
    #expect(try fault(maker.signer() + [0x00]) == .notDER)
    #expect(try fault(maker.signer { $0.notAfter = $0.notBefore - 1 }) == .malformedValidity)
    #expect(
      try fault(maker.signer { $0.extensions += $0.extensions.prefix(1) })
        == .repeatedExtension(CertificateExtension.authorityKeyIdentifierOID))
    let broken = try maker.signer {
      $0[oid: CertificateExtension.keyUsageOID] = .init(
        oid: CertificateExtension.keyUsageOID, isCritical: false, value: [0x04, 0x05, 0x01])
    }
    #expect(fault(broken) == .malformedExtension(CertificateExtension.keyUsageOID))
    #expect(fault(broken)?.detail == "has a malformed extension: keyUsage")
    let validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    let check = validator.evaluate(chain: [broken[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
      .checks.first { $0.code == .certificateMalformed }
    #expect(check?.outcome == .failed && check?.detail == "certificate 1 has a malformed extension: keyUsage")
  }

  @Test(arguments: [
    CertificateExtension.keyUsageOID, CertificateExtension.extendedKeyUsageOID,
    CertificateExtension.authorityKeyIdentifierOID, CertificateExtension.subjectKeyIdentifierOID, "1.2.3.4",
  ])
  func anExtensionThatStandsTwiceIsMalformed(oid: String) throws {
    let der = try maker.signer { template in
      let first = template[oid: oid] ?? CertificateExtension(oid: oid, isCritical: false, value: DER.null)
      if template[oid: oid] == nil { template.extensions.append(first) }
      template.extensions.append(first)
    }
    #expect(!isReadable(der))
  }

  @Test(arguments: [
    CertificateExtension.keyUsageOID, CertificateExtension.extendedKeyUsageOID,
    CertificateExtension.basicConstraintsOID, CertificateExtension.authorityKeyIdentifierOID,
    CertificateExtension.subjectKeyIdentifierOID,
  ])
  func aStandardExtensionThatIsNotItsTypeIsMalformed(oid: String) throws {
    let der = try maker.signer { template in
      template[oid: oid] = CertificateExtension(oid: oid, isCritical: false, value: [0x04, 0x05, 0x01])
    }
    #expect(!isReadable(der))
  }

  /// The certificate's status is then undetermined, but the rest of the certificate remains valid. A critical extension
  /// that can't be read refuses it (RFC 5280, 4.2).
  @Test func distributionPointsThatAreNotTheirTypeAreAFindingOfTheProfile() throws {
    let oid = CertificateExtension.crlDistributionPointsOID
    func points(_ isCritical: Bool) -> CertificateExtension {
      CertificateExtension(oid: oid, isCritical: isCritical, value: [0x04, 0x05, 0x01])
    }
    let certificate = try Certificate(der: maker.signer { $0[oid: oid] = points(false) })
    let extensions = certificate.extensions
    #expect(extensions.crlDistributionPoints?.isUsable == false)
    #expect(extensions.crlDistributionPoints?.flaws == [.malformed] && extensions.oids.contains(oid))
    #expect(extensions.keyUsage == .digitalSignature && extensions.authorityKeyIdentifier != nil)
    let validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    let evaluation = validator.evaluate(
      chain: [certificate.der[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.checks.filter { $0.outcome == .warning }.map(\.code) == [.profileRevocationSource])
    #expect(!isReadable(try maker.signer { $0[oid: oid] = points(true) }))
    let both = try maker.signer {
      $0[oid: oid] = points(false)
      $0[oid: CertificateExtension.keyUsageOID]?.value = [0x04, 0x05, 0x01]
    }
    #expect(!isReadable(both))
  }

  @Test func anEndBeforeTheBeginningIsMalformed() throws {
    let der = try maker.signer { $0.notAfter = $0.notBefore - 1 }
    #expect(!isReadable(der))
  }

  private func isReadable(_ der: [UInt8]) -> Bool { (try? Certificate(der: der)) != nil }
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
