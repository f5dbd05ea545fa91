import Cryptography
import Testing

@testable import Mock
@testable import PKIX

/// Certificates with keys that are infeasible to compute with. They are read without decoding the key
/// (`ParsingContext`). Only a key on a named curve counts, so no RSA, DSA or DH ever runs on them.
@Suite(.timeLimit(.minutes(10))) struct CostlyCertificateTests {
  private static let number = DER.unsignedInteger([UInt8](repeating: 0xc7, count: 7_000))

  private static func info(_ oid: String, _ parameters: [UInt8], _ key: [UInt8]) -> [UInt8] {
    DER.sequence(DER.sequence(DER.objectIdentifier(oid), parameters), DER.bitString(key))
  }

  @Test(
    "a key of another kind, as large as a certificate can hold, is no key",
    arguments: [
      // RSA whose exponent is as long as its modulus, 56 000 bits.
      info("1.2.840.113549.1.1.1", DER.null, DER.sequence(number, number)),
      info("1.2.840.113549.1.1.10", DER.sequence(), DER.sequence(number, number)),
      info("1.2.840.10040.4.1", DER.sequence(number, DER.unsignedInteger([3]), DER.unsignedInteger([5])), number),
      info("1.2.840.113549.1.3.1", DER.sequence(number, DER.unsignedInteger([2])), number),
      // A curve given by its parameters, and a point far too long for a named curve.
      info(
        SubjectPublicKeyInfo.ecPublicKeyOID,
        DER.sequence(
          DER.unsignedInteger([1]), DER.sequence(DER.objectIdentifier("1.2.840.10045.1.1"), number),
          DER.sequence(DER.octetString([1]), DER.octetString([2])), DER.octetString([4, 1, 1]),
          DER.unsignedInteger([7])), [4, 1, 1]),
      info(
        SubjectPublicKeyInfo.ecPublicKeyOID, DER.objectIdentifier("1.2.840.10045.3.1.7"),
        [0x04] + [UInt8](repeating: 0xc7, count: 14_000)),
    ])
  func otherKinds(_ publicKeyInfo: [UInt8]) throws {
    let profile = try ProfileMaker()
    var template = try profile.template(.documentSigner)
    template.publicKeyInfo = publicKeyInfo
    let certificate = try Certificate(der: template.signed(by: profile.maker.root.key))
    #expect(certificate.publicKey == nil)
    #expect(certificate.isSigned(by: profile.root))
    #expect(!profile.root.isSigned(by: certificate))
    #expect(
      try profile.findings(.documentSigner) { $0.publicKeyInfo = publicKeyInfo }.map(\.code).contains(
        .certificateAlgorithmUnsupported))
  }
}
