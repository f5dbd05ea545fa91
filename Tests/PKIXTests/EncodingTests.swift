import Cryptography
import PKIX
import Primitives
import Testing

@testable import MockIssuance

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
    // The signature's bit string in two pieces of a constructed one.
    let template = try maker.signerTemplate()
    let whole = try template.signed(by: maker.root.key)
    let signature = try #require(
      whole.indices.last { whole[$0] == 0x03 && whole[$0 + 1] == UInt8(whole.count - $0 - 2) })
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
      ([0xff], false), ([0x80] + zeros(19), false), ([0x7f] + zeros(20), false), ([0x00, 0xff] + zeros(20), false),
      ([0x00, 0x01], false), ([], false),
    ] as [([UInt8], Bool)])
  func serialNumbersAreNotNegativeAndAtMostTwentyOctets(number: [UInt8], isReadable: Bool) throws {
    let der = try maker.signer { $0.serialNumber = number }
    #expect(self.isReadable(der) == isReadable)
  }

  @Test func aSerialNumberOfZeroIsAFindingOfTheProfile() throws {
    let validator = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    let signer = try maker.signer { $0.serialNumber = [0x00] }
    let evaluation = validator.evaluate(
      chain: [signer[...]], docType: CertificateMaker.docType, at: maker.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.checks.first { $0.code == .profileSerialNumber }?.outcome == .warning)
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
    CertificateExtension.subjectKeyIdentifierOID, CertificateExtension.crlDistributionPointsOID,
  ])
  func aStandardExtensionThatIsNotItsTypeIsMalformed(oid: String) throws {
    let der = try maker.signer { template in
      template[oid: oid] = CertificateExtension(oid: oid, isCritical: false, value: [0x04, 0x05, 0x01])
    }
    #expect(!isReadable(der))
  }

  @Test func anEndBeforeTheBeginningIsMalformed() throws {
    let der = try maker.signer { $0.notAfter = $0.notBefore - 1 }
    #expect(!isReadable(der))
  }

  private func isReadable(_ der: [UInt8]) -> Bool { (try? Certificate(der: der)) != nil }
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
