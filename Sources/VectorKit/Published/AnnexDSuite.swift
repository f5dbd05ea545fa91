import Cryptography
import Mdoc
import PKIX
import Presentation
import Primitives
import Trust

/// The worked example of ISO/IEC 18013-5, Annex D, at the edges of its validity and with what must break it.
enum AnnexDSuite {
  private static let response = "D.4.1.2-device-response.cbor"
  private static let transcript = "D.5.1-session-transcript.cbor"
  private static let anchor = "D.5.2-iaca-cert.der"
  private static let readerRoot = "D.5.4-reader-root-cert.der"

  private struct Example {
    let id: String
    let description: String
    var time = "2020-12-01T00:00:00Z"
    var anchor = AnnexDSuite.anchor
    var changesTranscript = false
    var changesElement = false
    var code: Code?
  }

  private static let examples = [
    Example(id: "first-second", description: "Judged as soon as it is valid.", time: "2020-10-01T13:30:02Z"),
    Example(id: "last-second", description: "Judged in the signer's last second.", time: "2021-10-01T00:00:00Z"),
    Example(
      id: "too-early", description: "Judged a second early.", time: "2020-10-01T13:30:01Z", code: .notYetValid),
    Example(
      id: "too-late", description: "Judged a second late.", time: "2021-10-01T00:00:01Z", code: .certificateExpired),
    Example(
      id: "other-transcript", description: "The transcript's last byte is another.", changesTranscript: true,
      code: .deviceMacInvalid),
    Example(
      id: "other-name", description: "The family name is Dof.", changesElement: true, code: .digestMismatch),
    Example(
      id: "reader-root", description: "The reader's root is the anchor.", anchor: readerRoot, code: .issuerUnknown),
  ]

  static func isHere(_ folder: SuiteFolder) -> Bool { folder.has(response) && folder.has(transcript) }

  static func results(in folder: SuiteFolder, filter: String?) throws(SuiteError) -> [VectorResult] {
    var results: [VectorResult] = []
    for example in examples where filter.map({ example.id.contains($0) }) ?? true {
      let start = ContinuousClock.now
      let codes = try codes(of: example, in: folder)
      let isRight = example.code.map { codes.contains($0.rawValue) } ?? codes.isEmpty
      let vector = PublishedSuite.vector(
        example.id, example.description, reference: "ISO/IEC 18013-5:2021, Annex D",
        flag: example.code.map(VectorFlag.ofMissing) ?? .control, isAccepted: example.code == nil)
      let found = codes.isEmpty ? "accepted" : "refused with \(codes.joined(separator: ", "))"
      results.append(
        VectorResult(
          group: "annex-d", vector: vector,
          outcome: isRight ? .passed : .failed("\(found) and should be \(example.code?.rawValue ?? "accepted")"),
          judgement: Judgement(isAccepted: codes.isEmpty, codes: codes),
          duration: (ContinuousClock.now - start).seconds))
    }
    return results
  }

  private static func codes(of example: Example, in folder: SuiteFolder) throws(SuiteError) -> [String] {
    var response = try folder.read(response)
    var transcript = try folder.read(transcript)
    if example.changesTranscript, let last = transcript.indices.last { transcript[last] ^= 1 }
    let name = Array("Doe".utf8)
    if example.changesElement, let start = response.indices.first(where: { response[$0...].starts(with: name) }) {
      response[start + 2] = UInt8(ascii: "f")
    }
    let manifest = try? JSON(parsing: folder.read("manifest.json"))
    let scalar = Hex.decode(manifest?["keys"]?["eReaderKey"]?["d"]?.string ?? "") ?? []
    guard let time = Timestamp(rfc3339: example.time),
      let certificate = try? Certificate(der: folder.read(example.anchor)),
      let store = try? TrustStore(anchors: [TrustAnchor(certificate: certificate)], allowsTestCertificates: true),
      let key = try? PrivateKey(curve: .p256, scalar: scalar),
      let session = try? SessionTranscript(encoded: transcript)
    else { throw SuiteError(path: folder.path, problem: "is not Annex D as it was published") }
    let verdict = Proximity(verifier: MdocVerifier(trust: store, clockSkew: 0)).verify(
      response, transcript: session, readerKey: key, request: nil, at: time)
    return verdict.report.reasons.map(\.code.rawValue)
  }
}
