import Base
import Cryptography
import JOSE
import Mdoc
import PKIX
import Presentation
import Trust
import Vectors

/// The worked example of ISO/IEC TS 18013-7, B.6: verified at the limits of its validity, and with changes that must
/// invalidate it.
struct AnnexBSet: PublishedSet {
  let name = "iso18013-7-annexB"

  private static let request = "authorization-request.jar.txt"
  private static let response = "authorization-response.jwe.txt"
  private static let elementCount = 11
  private static let reference = "ISO/IEC TS 18013-7, B.6"

  private struct Example {
    let id: String
    let description: String
    var time = "2024-05-01T00:00:00Z"
    var nonce = "abcdefgh1234567890"
    var clientID = "example.com"
    var responseURI = "https://example.com/12345/response"
    var definitionID = "mDL-sample-req"
    var hasOtherKey = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "first-second", description: "Judged as soon as it is valid.", time: "2024-04-28T21:02:25Z"),
    Example(id: "last-second", description: "Judged in its last valid second.", time: "2024-05-08T21:02:24Z"),
    Example(
      id: "too-early", description: "Judged a second early.", time: "2024-04-28T21:02:24Z", codes: [.notYetValid]),
    Example(id: "too-late", description: "Judged a second late.", time: "2024-05-08T21:02:25Z", codes: [.expired]),
    Example(
      id: "other-nonce", description: "Another nonce was asked with.", nonce: "abcdefgh1234567891",
      codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-client", description: "Another client asks.", clientID: "example.org",
      codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-address", description: "The answer was to go elsewhere.",
      responseURI: "https://example.com/12346/response", codes: [.deviceSignatureInvalid]),
    Example(
      id: "other-definition", description: "Another definition was sent.", definitionID: "another",
      codes: [.vpTokenMalformed]),
    Example(id: "other-key", description: "The request had another key.", hasOtherKey: true, codes: [.jweKeyUnknown]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.request) && folder.has(Self.response) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    let setup = try Setup(in: folder)
    let request = try folder.text(Self.request)
    let transcript = try folder.read("session-transcript.cbor")
    return [
      PublishedCase(
        "request", "The request object's signature.", reference: Self.reference, codes: [],
        judge: { Self.isSigned(request) ? .accepted : .refused() }),
      PublishedCase(
        "transcript", "The printed transcript, byte for byte.", reference: Self.reference, codes: [],
        judge: {
          let ours = AnnexB.transcript(
            clientID: "example.com", responseURI: "https://example.com/12345/response", nonce: "abcdefgh1234567890",
            mdocNonce: "1234567890abcdefgh")
          return ours.encoded == transcript ? .accepted : .other("the transcript is another")
        }),
    ]
      + Self.examples.map { example in
        PublishedCase(
          example.id, example.description, reference: Self.reference, codes: example.codes,
          judge: { setup.finding(on: example) })
      }
  }

  /// Whether the key of the certificate in the header verifies the request. The example has no anchor for its reader.
  private static func isSigned(_ request: String) -> Bool {
    guard let jws = try? CompactJWS(parsing: request.utf8), let der = jws.header.certificateChain?.first,
      let key = (try? Certificate(der: der))?.publicKey
    else { return false }
    return jws.verify(with: key) == .valid
  }

  /// The example's files, parsed.
  private struct Setup {
    private let response: String
    private let key: PrivateKey
    private let store: TrustStore

    init(in folder: SuiteFolder) throws(SuiteError) {
      let scalar = try folder.json("reader-ephemeral-private.jwk.json")["d"]?.string.flatMap(Base64.decodeURLSafe)
      let pem = String(decoding: try folder.read("iaca.pem"), as: UTF8.self)
      guard let scalar, let key = try? PrivateKey(curve: .p256, scalar: scalar),
        let root = PEM.certificates(in: pem)?.first, let certificate = try? Certificate(der: root),
        let store = try? TrustStore(anchors: [TrustAnchor(certificate: certificate)], allowsTestCertificates: true)
      else { throw SuiteError(path: folder.path, problem: "is not Annex B as it was published") }
      response = try folder.text(AnnexBSet.response)
      (self.key, self.store) = (key, store)
    }

    func finding(on example: Example) -> PublishedCase.Finding {
      guard let time = Timestamp(rfc3339: example.time),
        let key = example.hasOtherKey ? try? PrivateKey(generatingOn: .p256) : key
      else { return .other("it can't be set up") }
      let challenge = OpenID4VPChallenge(
        recipient: .client(id: example.clientID, responseURI: example.responseURI), nonce: example.nonce, state: nil,
        key: key)
      let answer = AnnexB(verifier: MdocVerifier(trust: store, clockSkew: 0)).authenticate(
        ["response": .string(response)], answering: challenge, request: nil, definitionID: example.definitionID,
        at: time)
      return .ofVerdict(answer.conclude(), elements: elementCount)
    }
  }
}

extension SuiteFolder {
  /// The text of a file that holds one token, without line ends.
  func text(_ name: String) throws(SuiteError) -> String {
    let text = String(decoding: try read(name), as: UTF8.self)
    return text.split(whereSeparator: \.isWhitespace).joined()
  }
}
