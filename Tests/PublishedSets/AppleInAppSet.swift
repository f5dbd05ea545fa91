import Base
import CBOR
import Cryptography
import Mdoc
import PKIX
import Presentation
import Trust
import Vectors

/// Apple's "Verify with Wallet" sample: verified at the limits of its validity, and with changes that must invalidate
/// it.
struct AppleInAppSet: PublishedSet {
  let name = "apple-in-app"

  private static let envelope = "sample/hpke_envelope.cbor"
  private static let parameters = "sample/session_transcript_parameters.txt"
  private static let elementCount = 22

  private struct Example {
    let id: String
    let description: String
    var time = "2022-06-01T00:00:00Z"
    /// The index of the changed byte from the envelope's end, where the ciphertext is; nil for none.
    var flippedByteFromEnd: Int?
    var changesNonce = false
    var merchantID: String?
    var teamID: String?
    var hasOtherKey = false
    var isLive = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "first-second", description: "Judged as soon as it is valid.", time: "2022-03-31T22:48:31Z"),
    Example(id: "last-second", description: "Judged in its last valid second.", time: "2023-03-22T22:48:31Z"),
    Example(
      id: "too-early", description: "Judged a second early.", time: "2022-03-31T22:48:30Z",
      codes: [.signedInFuture, .notYetValid]),
    Example(id: "too-late", description: "Judged a second late.", time: "2023-03-22T22:48:32Z", codes: [.expired]),
    Example(
      id: "other-ciphertext", description: "A bit within the ciphertext is another.", flippedByteFromEnd: 3_000,
      codes: [.envelopeDecryptionFailed]),
    Example(
      id: "other-tag", description: "A bit of the ciphertext's tag is another.", flippedByteFromEnd: 1,
      codes: [.envelopeDecryptionFailed]),
    Example(
      id: "other-nonce", description: "Another nonce was asked with.", changesNonce: true,
      codes: [.envelopeTranscriptMismatch]),
    Example(
      id: "other-merchant", description: "Another merchant asks.", merchantID: "merchant.other",
      codes: [.envelopeTranscriptMismatch]),
    Example(
      id: "other-team", description: "Another team asks.", teamID: "ABCDE12345", codes: [.envelopeTranscriptMismatch]),
    Example(
      id: "other-key", description: "The merchant has another key.", hasOtherKey: true,
      codes: [.envelopeRecipientKeyUnknown]),
    Example(
      id: "live", description: "A live verifier has the published root.", isLive: true, codes: [.testCertificate]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.envelope) && folder.has(Self.parameters) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    let sample = try Sample(in: folder)
    return Self.examples.map { example in
      PublishedCase(
        example.id, example.description, reference: "Apple, Verify with Wallet, sample of 2022", codes: example.codes,
        judge: { Self.finding(on: example, sample) })
    }
  }

  private static func finding(on example: Example, _ sample: Sample) -> PublishedCase.Finding {
    var (envelope, nonce) = (sample.envelope, sample.nonce)
    if let distance = example.flippedByteFromEnd, distance <= sample.endOfData {
      envelope[sample.endOfData - distance] ^= 0x80
    }
    if example.changesNonce, let last = nonce.indices.last { nonce[last] ^= 1 }
    guard let time = Timestamp(rfc3339: example.time),
      let key = example.hasOtherKey ? try? PrivateKey(generatingOn: .p256) : sample.key,
      let store = try? TrustStore(anchors: [sample.anchor], allowsTestCertificates: !example.isLive),
      let challenge = try? AppleChallenge(
        nonce: nonce, merchantID: example.merchantID ?? sample.merchantID, teamID: example.teamID ?? sample.teamID)
    else { return .other("it can't be set up") }
    let apple = AppleInApp(
      verifier: MdocVerifier(trust: store, clockSkew: 0), keys: [key], publishedKey: .warn)
    let answer = apple.authenticate(envelope, answering: challenge, request: nil, at: time)
    return .ofVerdict(answer.conclude(), elements: elementCount)
  }
}

extension AppleInAppSet {
  /// The sample's files, parsed.
  struct Sample {
    let envelope: [UInt8]
    /// Where the ciphertext ends within the envelope.
    let endOfData: Int
    let key: PrivateKey
    let anchor: TrustAnchor
    let nonce: [UInt8]
    let merchantID: String
    let teamID: String

    init(in folder: SuiteFolder) throws(SuiteError) {
      func text(_ name: String) throws(SuiteError) -> String { String(decoding: try folder.read(name), as: UTF8.self) }
      let parameters = try text("sample/session_transcript_parameters.txt").split(whereSeparator: \.isNewline)
      func parameter(_ name: String) -> String? {
        parameters.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
      }
      guard let envelope = Hex.decode(try text("sample/hpke_envelope.cbor")),
        let data = try? CBORItem(parsing: envelope)[key: "data"],
        let scalar = Hex.decode(try text("sample/merchant_encryption_private_scalar.hex")),
        let key = try? PrivateKey(curve: .p256, scalar: scalar),
        let root = PEM.certificates(in: try text("sample/issuer_root.crt"))?.first,
        let certificate = try? Certificate(der: root), let nonce = parameter("Nonce").flatMap({ Hex.decode($0) }),
        let merchantID = parameter("Merchant ID"), let teamID = parameter("Team ID")
      else { throw SuiteError(path: folder.path, problem: "is not Apple's sample as it was published") }
      self.envelope = envelope
      endOfData = data.startOffset + data.encoded.count
      self.key = key
      anchor = TrustAnchor(certificate: certificate)
      (self.nonce, self.merchantID, self.teamID) = (nonce, merchantID, teamID)
    }
  }
}
