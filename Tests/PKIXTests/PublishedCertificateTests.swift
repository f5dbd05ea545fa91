import Base
import Cryptography
import PKIX
import TestSupport
import Testing

/// Certificates of published examples; `VectorKitTests` has the chains of isomdl.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedCertificateTests {
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
    let signer = try pem("issuer_signing")
    let root = try pem("issuer_root")
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

  private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

  private func pem(_ name: String) throws -> [UInt8] {
    let text = String(decoding: try PublishedVectors.bytes("apple-in-app/sample/\(name).crt"), as: UTF8.self)
    return try #require(PEM.certificates(in: text)?.first)
  }
}
