import Base
import Cryptography
import Mdoc
import PKIX
import Presentation
import Trust
import Vectors

/// The worked example of ISO/IEC 18013-5, Annex D: verified at the limits of its validity, and with changes that must
/// invalidate it.
struct AnnexDSet: PublishedSet {
  let name = "iso18013-5-annexD"

  private static let response = "D.4.1.2-device-response.cbor"
  private static let transcript = "D.5.1-session-transcript.cbor"
  private static let anchor = "D.5.2-iaca-cert.der"
  private static let readerRoot = "D.5.4-reader-root-cert.der"

  private struct Example {
    let id: String
    let description: String
    var time = "2020-12-01T00:00:00Z"
    var anchor = AnnexDSet.anchor
    var changesTranscript = false
    var changesElement = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "first-second", description: "Judged as soon as it is valid.", time: "2020-10-01T13:30:02Z"),
    Example(id: "last-second", description: "Judged in the signer's last second.", time: "2021-10-01T00:00:00Z"),
    Example(
      id: "too-early", description: "Judged a second early.", time: "2020-10-01T13:30:01Z",
      codes: [.signedInFuture, .notYetValid]),
    Example(
      id: "too-late", description: "Judged a second late.", time: "2021-10-01T00:00:01Z", codes: [.certificateExpired]),
    Example(
      id: "other-transcript", description: "The transcript's last byte is another.", changesTranscript: true,
      codes: [.deviceMacInvalid]),
    Example(
      id: "other-name", description: "The family name is Dof.", changesElement: true, codes: [.digestMismatch]),
    Example(
      id: "reader-root", description: "The reader's root is the anchor.", anchor: readerRoot, codes: [.issuerUnknown]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.response) && folder.has(Self.transcript) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for example in Self.examples {
      let answer = try Answer(example, in: folder)
      cases.append(
        PublishedCase(
          example.id, example.description, reference: "ISO/IEC 18013-5:2021, Annex D", codes: example.codes,
          judge: { .ofVerdict(answer.verdict(), elements: 6) }))
    }
    return cases
  }

  /// The published bytes with one change, ready for verification.
  private struct Answer {
    private let response: [UInt8]
    private let session: SessionTranscript
    private let proximity: Proximity
    private let key: PrivateKey
    private let time: Timestamp

    init(_ example: Example, in folder: SuiteFolder) throws(SuiteError) {
      var response = try folder.read(AnnexDSet.response)
      var transcript = try folder.read(AnnexDSet.transcript)
      if example.changesTranscript, let last = transcript.indices.last { transcript[last] ^= 1 }
      let name = Array("Doe".utf8)
      if example.changesElement, let start = response.firstRange(of: name)?.lowerBound {
        response[start + 2] = UInt8(ascii: "f")
      }
      let scalar = Hex.decode(try folder.json("manifest.json")["keys"]?["eReaderKey"]?["d"]?.string ?? "") ?? []
      guard let time = Timestamp(rfc3339: example.time),
        let certificate = try? Certificate(der: folder.read(example.anchor)),
        let store = try? TrustStore(anchors: [TrustAnchor(certificate: certificate)], allowsTestCertificates: true),
        let key = try? PrivateKey(curve: .p256, scalar: scalar),
        let session = try? SessionTranscript(encoded: transcript)
      else { throw SuiteError(path: folder.path, problem: "is not Annex D as it was published") }
      proximity = Proximity(verifier: MdocVerifier(trust: store, clockSkew: 0))
      (self.response, self.session, self.key, self.time) = (response, session, key, time)
    }

    func verdict() -> Verdict {
      proximity.authenticate(response, transcript: session, readerKey: key, request: nil, at: time).conclude()
    }
  }
}
