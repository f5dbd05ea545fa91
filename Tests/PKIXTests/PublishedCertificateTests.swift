import Base
import Cryptography
import TestSupport
import Testing

@testable import Mock
@testable import PKIX

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
    // This also holds if a published list contains it.
    var listed = try maker.anchor()
    listed.trustedUntil = maker.until
    let following = PathValidator(anchors: [listed], allowsTestCertificates: false)
    #expect(try following.failures([maker.signer()], at: maker.now) == [.testCertificate])
  }

  /// As signer, as intermediate, as anchor and as a pinned signer; also with a compressed point.
  @Test func liveModeRefusesAPublishedKeyAtEachPosition() throws {
    let manifest: AnnexDManifest = try PublishedVectors.json("iso18013-5-annexD/manifest.json")
    let key = try PrivateKey(curve: .p256, scalar: manifest.keys.iacaPrivate.bytes)
    let maker = try CertificateMaker()
    let intermediate = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: "intermediate"), key: key)
    let authority = try maker.caTemplate(intermediate, under: maker.root, pathLength: 0).signed(by: maker.root.key)
    let point = key.publicKey.encoded
    let compressed = SubjectPublicKeyInfo.ec(
      parameters: DER.objectIdentifier("1.2.840.10045.3.1.7"), point: [0x02 + point[64] % 2] + point[1...32])
    let chains = try [
      [maker.signerTemplate(key.publicKey).signed(by: maker.root.key)],
      [maker.signer { $0.publicKeyInfo = compressed.der }],
      [maker.signerTemplate(under: intermediate).signed(by: key), authority],
    ]
    var anchor = try maker.anchor()
    anchor.maxPathLength = 1
    for chain in chains {
      let pinned = TrustAnchor(
        certificate: try Certificate(der: chain[0]), kind: .documentSigner, docTypes: [CertificateMaker.docType])
      for anchor in chain.count == 1 ? [anchor, pinned] : [anchor] {
        let live = PathValidator(anchors: [anchor], allowsTestCertificates: false)
        #expect(live.failures(chain, at: maker.now) == [.testCertificate])
        let test = PathValidator(anchors: [anchor], allowsTestCertificates: true)
        #expect(test.failures(chain, at: maker.now) == [])
        let staging = PathValidator(anchors: [anchor], allowsTestCertificates: false, warnsOfPublishedKeys: true)
        let evaluation = staging.evaluate(
          chain: chain.map { $0[...] }, docType: CertificateMaker.docType, at: maker.now, skew: 0)
        let check = evaluation.checks.first { $0.code == .testCertificate }
        #expect(evaluation.isTrusted && check?.outcome == .warning)
        #expect(check?.detail?.contains("its key is a published test key: ISO/IEC 18013-5, D.5.2") == true)
      }
    }
  }

  /// On three curves, by a hash that other software computed.
  @Test(arguments: ["isomdl_iaca_root_cert", "owf_multipaz_iaca_p384", "reader_auth"])
  func theTableKnowsTheKeysOfPublishedLibraries(name: String) throws {
    let text = String(decoding: try PublishedVectors.bytes("isomdl-certs/\(name).pem"), as: UTF8.self)
    let certificate = try Certificate(der: #require(PEM.certificates(in: text)?.first))
    #expect(PublishedKeys.origin(of: certificate)?.isEmpty == false && certificate.testOrigin != nil)
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

/// The table of published keys, without the published vectors.
@Suite struct PublishedKeyTests {
  @Test func everyEntryIsASHA256WithItsPlace() {
    #expect(PublishedKeys.origins.count >= 30)
    for (hash, place) in PublishedKeys.origins {
      #expect(hash == hash.lowercased() && Hex.decode(hash)?.count == 32 && !place.isEmpty, "\(hash)")
    }
  }

  /// In the form of `openssl pkey -pubout -outform DER`, and of our own builder of certificates.
  @Test(arguments: Curve.allCases)
  func aKeyIsHashedAsSubjectPublicKeyInfo(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    #expect(key.subjectPublicKeyInfo == SubjectPublicKeyInfo.der(of: key))
  }

  @Test func otherKeysAreNowhere() throws {
    let maker = try CertificateMaker()
    #expect(try Certificate(der: maker.signer()).testOrigin == nil)
    let marked = try Certificate(der: maker.signer { $0.extensions.append(.mockMarker) })
    #expect(marked.testOrigin == "made by the mock authority" && PublishedKeys.origin(of: marked) == nil)
  }
}
