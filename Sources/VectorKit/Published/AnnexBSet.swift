import Cryptography
import Mdoc
import PKIX
import Presentation
import Primitives
import Trust

/// The worked example of ISO/IEC TS 18013-7, Annex B, at the edges of its validity and for somebody else.
struct AnnexBSet: PublishedSet {
  let name = "iso18013-7-annexB"

  private static let response = "authorization-response.jwe.txt"

  private struct Example {
    let id: String
    let description: String
    var time = "2024-05-01T00:00:00Z"
    var clientID = "example.com"
    var responseURI = "https://example.com/12345/response"
    var nonce = "abcdefgh1234567890"
    var hasOtherKey = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "first-second", description: "Judged as soon as it is valid.", time: "2024-04-28T21:02:25Z"),
    Example(id: "last-second", description: "Judged in its last valid second.", time: "2024-05-08T21:02:24Z"),
    Example(
      id: "too-early", description: "Judged a second early.", time: "2024-04-28T21:02:24Z",
      codes: [.notYetValid]),
    Example(id: "too-late", description: "Judged a second late.", time: "2024-05-08T21:02:25Z", codes: [.expired]),
    Example(
      id: "other-nonce", description: "Another nonce was asked with.", nonce: "abcdefgh1234567891",
      codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-client", description: "The client_id ends with a space, as the printed parameters have it.",
      clientID: "example.com ", codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-address", description: "Another address was to be answered.",
      responseURI: "https://example.com/12346/response", codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-key", description: "The verifier has another key.", hasOtherKey: true, codes: [.jweKeyUnknown]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.response) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    let response = String(decoding: try folder.read(Self.response), as: UTF8.self).filter { !$0.isWhitespace }
    let pem = String(decoding: try folder.read("iaca.pem"), as: UTF8.self)
    let scalar = try folder.json("reader-ephemeral-private.jwk.json")["d"]?.string.flatMap(Base64.decodeURLSafe) ?? []
    guard let root = PEM.certificates(in: pem)?.first, let certificate = try? Certificate(der: root),
      let store = try? TrustStore(anchors: [TrustAnchor(certificate: certificate)], allowsTestCertificates: true),
      let key = try? PrivateKey(curve: .p256, scalar: scalar)
    else { throw SuiteError(path: folder.path, problem: "is not Annex B as it was published") }
    let verifier = AnnexB(verifier: MdocVerifier(trust: store, clockSkew: 0))
    return Self.examples.map { example in
      PublishedCase(
        example.id, example.description, reference: "ISO/IEC TS 18013-7:2024, B.6", codes: example.codes,
        judge: {
          guard let time = Timestamp(rfc3339: example.time),
            let key = example.hasOtherKey ? try? PrivateKey(generatingOn: .p256) : key
          else { return .other("it can't be set up") }
          let challenge = OpenID4VPChallenge(
            recipient: .client(id: example.clientID, responseURI: example.responseURI), nonce: example.nonce,
            state: nil, key: key)
          let answer = verifier.authenticate(
            ["response": .string(response)], answering: challenge, request: nil, definitionID: "mDL-sample-req",
            at: time)
          return .ofVerdict(answer.conclude(), elements: 11)
        })
    }
  }
}
