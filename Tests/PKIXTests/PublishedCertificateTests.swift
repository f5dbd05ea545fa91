import Cryptography
import PKIX
import Primitives
import TestSupport
import Testing

/// Certificates that other implementations publish for their tests.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedCertificateTests {
  /// The chain is right otherwise, but RFC 5280, 4.1.2.2 forbids the negative serial number that this signer has.
  @Test func aSignerWithANegativeSerialNumberIsMalformed() throws {
    let now = try time("2026-06-01T00:00:00Z")
    let validator = try validator("owf_multipaz_iaca_p384")
    #expect(validator.anchors.first?.certificate.publicKey?.curve == .p384)
    #expect(try validator.failures([pem("owf_multipaz_ds_p384")], at: now) == [.certificateMalformed])
  }

  @Test func aSignerUnderTheRootIsTrusted() throws {
    let failures = try validator("isomdl_iaca_root_cert").failures([pem("isomdl_iaca_signer")], at: time2024)
    #expect(failures == [])
  }

  /// Both of its certificates are authorities that may not sign certificates: the length of the path is not all that
  /// is wrong with it, and an anchor that allows two levels changes only that.
  @Test(arguments: [(0, true), (1, false)])
  func twoLevelsNeedAnAnchorThatAllowsThem(maxPathLength: Int, isTooLong: Bool) throws {
    var validator = try validator("isomdl_iaca_root_cert").anchors
    validator[0].maxPathLength = maxPathLength
    let failures = try PathValidator(anchors: validator, allowsTestCertificates: true).failures(
      [pem("isomdl_iaca_leaf_signer"), pem("isomdl_iaca_intermediate")], at: time2024)
    #expect(failures == (isTooLong ? [.pathLengthExceeded] : []) + [.certificateIsCA, .certificateKeyUsage])
  }

  @Test func theLeafOfTwoLevelsAloneLeadsNowhere() throws {
    let failures = try validator("isomdl_iaca_root_cert").failures([pem("isomdl_iaca_leaf_signer")], at: time2024)
    #expect(failures == [.issuerUnknown])
  }

  @Test func theIncorrectSignerIsAnAuthority() throws {
    let failures = try validator("isomdl_iaca_root_cert").failures([pem("isomdl_incorrect_iaca_signer")], at: time2024)
    #expect(failures == [.certificateIsCA])
  }

  @Test func aReaderCertificateIsNoDocumentSigner() throws {
    let reader = try pem("reader_auth")
    #expect(try validator("isomdl_iaca_root_cert").failures([reader], at: time2024) == [.issuerUnknown])
  }

  @Test(arguments: [
    ("2020-12-01T00:00:00Z", "D.5.2-iaca-cert.der", []),
    ("2020-12-01T00:00:00Z", "D.5.4-reader-root-cert.der", [Code.issuerUnknown]),
    ("2021-10-01T00:00:01Z", "D.5.2-iaca-cert.der", [.certificateExpired]),
  ])
  func theSignerOfAnnexDChains(instant: String, root: String, codes: [Code]) throws {
    let signer = try PublishedVectors.bytes("iso18013-5-annexD/D.5.2-ds-cert.der")
    let anchor = TrustAnchor(certificate: try Certificate(der: PublishedVectors.bytes("iso18013-5-annexD/\(root)")))
    let validator = PathValidator(anchors: [anchor], allowsTestCertificates: true)
    #expect(try validator.failures([signer], at: time(instant)) == codes)
  }

  @Test func applesSignerChainsAndLiveModeKnowsItsRoot() throws {
    let signer = try pem("issuer_signing", in: "apple-in-app/sample", ending: "crt")
    let root = try pem("issuer_root", in: "apple-in-app/sample", ending: "crt")
    let anchor = TrustAnchor(certificate: try Certificate(der: root))
    let now = try time("2022-06-01T00:00:00Z")
    #expect(PathValidator(anchors: [anchor], allowsTestCertificates: true).failures([signer], at: now) == [])
    let live = PathValidator(anchors: [anchor], allowsTestCertificates: false)
    #expect(live.failures([signer], at: now) == [.testCertificate])
  }

  /// The key of Annex D's root is printed in the standard: anybody can make another certificate for it.
  @Test func liveModeKnowsAPublishedKeyInAnotherCertificate() throws {
    let manifest: AnnexDManifest = try PublishedVectors.json("iso18013-5-annexD/manifest.json")
    let key = try PrivateKey(curve: .p256, scalar: manifest.keys.iacaPrivate.bytes)
    let published = try PublishedVectors.bytes("iso18013-5-annexD/D.5.2-iaca-cert.der")
    #expect(try Certificate(der: published).publicKey == key.publicKey)
    let maker = try CertificateMaker(key: key)
    let live = PathValidator(anchors: [try maker.anchor()], allowsTestCertificates: false)
    #expect(try live.failures([maker.signer()], at: maker.now) == [.testCertificate])
  }

  private struct AnnexDManifest: Decodable {
    struct Keys: Decodable { let iacaPrivate: HexBytes }
    let keys: Keys
  }

  private var time2024: Timestamp { get throws { try time("2024-02-01T00:00:00Z") } }

  private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

  private func pem(_ name: String, in folder: String = "isomdl-certs", ending: String = "pem") throws -> [UInt8] {
    let text = String(decoding: try PublishedVectors.bytes("\(folder)/\(name).\(ending)"), as: UTF8.self)
    return try #require(PEM.certificates(in: text)?.first)
  }

  private func validator(_ root: String) throws -> PathValidator {
    let anchor = TrustAnchor(certificate: try Certificate(der: pem(root)), docTypes: [CertificateMaker.docType])
    return PathValidator(anchors: [anchor], allowsTestCertificates: true)
  }
}
