import PKIX
import Testing

@testable import Mock

/// The textual encoding of certificates (RFC 7468), as tools and people write it.
@Suite struct PEMTests {
  let der: [UInt8]
  let pem: String

  init() throws {
    der = try CertificateMaker().signer()
    pem = PEM.encode(certificate: der)
  }

  @Test func readsWhatItWrites() { #expect(PEM.certificates(in: pem) == [der]) }

  @Test func readsSeveralInTheirOrder() throws {
    let other = try CertificateMaker().signer()
    #expect(PEM.certificates(in: pem + "\n" + PEM.encode(certificate: other)) == [der, other])
  }

  @Test(arguments: ["\r\n", "\r", "\n\n", " \n", "\t\n"])
  func readsOtherLineEndings(ending: String) {
    #expect(PEM.certificates(in: pem.split(separator: "\n").joined(separator: ending)) == [der])
  }

  @Test func ignoresTextAroundAndOtherBlocks() {
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    #expect(PEM.certificates(in: "subject=C = US\n0 s:CN=x\n" + key + pem + "end") == [der])
    #expect(PEM.certificates(in: key) == [])
    #expect(PEM.certificates(in: "") == [])
  }

  @Test func refusesABlockThatIsNotClosed() {
    let lines = pem.split(separator: "\n")
    for count in 1..<lines.count { #expect(PEM.certificates(in: lines[..<count].joined(separator: "\n")) == nil) }
    #expect(PEM.certificates(in: lines.dropLast().joined(separator: "\n") + "\n" + pem) == nil)
  }

  /// A byte order mark or a typing mistake in a first line must not silently drop a certificate.
  @Test(arguments: ["\u{feff}", "-", "x"])
  func refusesABlockWhoseBeginningIsNotRecognised(prefix: String) {
    #expect(PEM.certificates(in: prefix + pem + pem) == nil)
  }

  @Test(arguments: ["*", "=AAA", "é"])
  func refusesWhatIsNotBase64(text: String) {
    #expect(PEM.certificates(in: "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----") == nil)
  }
}
