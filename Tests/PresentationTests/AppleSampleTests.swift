import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import PKIX
import TestSupport
import Testing
import Trust

@testable import Presentation

/// Apple's published sample, which is valid from 2022-03-31T22:48:31Z to 2023-03-22T22:48:31Z.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct AppleSampleTests {
  let sample: AppleSample

  init() throws { sample = try AppleSample() }

  @Test func verifiesWithAllItsElements() throws {
    let verdict = try sample.verify()
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.report.reasons.map(\.code.rawValue))")
      return
    }
    let document = try #require(presentation.documents.first)
    #expect(presentation.documents.count == 1)
    #expect(document.elements.count == 22)
    #expect(document.deviceAuthentication == .signature)
    #expect(document.issuer.commonName == "PassKit Identity Test Document Signing")
    #expect(verdict.report.checks.filter { $0.outcome == .warning }.map(\.code) == [.appleSimulatorAnswer])
    let givenName = document.elements.first { $0.reference == ElementReference(Namespace.mDL, "given_name") }
    #expect(givenName?.value == .text("Jane"))
  }

  @Test func inspectionGivesTheHashesThatApplePrinted() throws {
    let key = try sample.key()
    let challenge = try sample.challenge()
    let inspection = AppleInspection(of: challenge, recipient: key.publicKey)
    #expect(inspection.transcript.encoded == (try PublishedVectors.hex("apple-in-app/sample/session_transcript.txt")))
    #expect(inspection.infoHash == (try PublishedVectors.hex("apple-in-app/sample/info_hash.txt")))
    #expect(Hex.encode(inspection.recipientKeyHash) == AppleSample.recipientKeyHash)
    let inputs = try inspection.signatureInputs(of: sample.envelope, key: key)
    #expect(inputs.map(\.issuer?.count) == [1303] && inputs.map(\.device?.count) == [271])
    #expect(
      inputs.first?.issuer.map { Hex.encode($0.sha256) }
        == "2b9e42a3a5263280b86c61172af4316d2b53e1b491c76b9455b5517092d5172b")
    #expect(
      inputs.first?.device.map { Hex.encode($0.sha256) }
        == "2f0ff9caca3a14537a5b626137e97e385993e7384ec79ee4bc069279bc9abf65")
  }

  @Test func intermediateValuesAreThoseThatApplePrinted() throws {
    let challenge = try sample.challenge()
    let key = try sample.key()
    #expect(Hex.encode(AppleInApp.recipientKeyHash(key.publicKey)) == AppleSample.recipientKeyHash)
    let transcript = challenge.transcript(recipientKeyHash: AppleInApp.recipientKeyHash(key.publicKey))
    #expect(transcript.encoded == (try PublishedVectors.hex("apple-in-app/sample/session_transcript.txt")))
    #expect(
      Hex.encode(HashAlgorithm.sha256.hash(transcript.encoded))
        == "59a47fc9fa2402cfefa5e889183d4222cb15bb10807e53d90b4eef5eb9ff1d96")

    let envelope = try CBORItem(parsing: sample.envelope)
    let parameters = try #require(envelope[key: "params"])
    let plaintext = try HPKE.p256SHA256AES128GCM.open(
      try #require(envelope[key: "data"]?.bytes),
      encapsulatedKey: try #require(parameters[key: "pkEm"]?.bytes), recipient: key, info: transcript.encoded)
    #expect(plaintext == (try PublishedVectors.hex("apple-in-app/sample/plaintext_topics.cbor")))

    let document = try #require(
      try CBORItem(parsing: plaintext)[key: "identity"]?[key: "documents"]?.elements?.first { _ in true })
    let issuerAuth = try COSESign1(parsing: try #require(document[key: "issuerSigned"]?[key: "issuerAuth"]))
    let signed = issuerAuth.toBeSigned(payload: try #require(issuerAuth.payload?.bytes))
    #expect(signed.count == 1303)
    #expect(
      Hex.encode(HashAlgorithm.sha256.hash(signed))
        == "2b9e42a3a5263280b86c61172af4316d2b53e1b491c76b9455b5517092d5172b")
  }

  @Test(
    arguments: [
      ("2022-03-31T22:48:31Z", 0, nil), ("2022-03-31T22:48:30Z", 0, Code.notYetValid),
      ("2023-03-22T22:48:31Z", 0, nil), ("2023-03-22T22:48:32Z", 0, .expired),
      ("2023-03-22T22:49:31Z", 60, nil), ("2023-03-22T22:49:32Z", 60, .expired),
      ("2022-03-31T22:47:31Z", 60, nil), ("2022-03-31T22:47:30Z", 60, .notYetValid),
    ] as [(String, Int64, Code?)])
  func isRefusedOutsideItsWindow(time: String, skew: Int64, code: Code?) throws {
    let verdict = try sample.verify(at: time, skew: skew)
    if let code {
      #expect(verdict.codes.contains(code))
    } else {
      #expect(verdict.codes == [])
    }
  }

  @Test func everyAlteredByteOfTheNonceIsAnotherTranscript() throws {
    for index in sample.nonce.indices {
      var nonce = sample.nonce
      nonce[index] ^= 1
      #expect(try sample.verify(nonce: nonce).codes == [.envelopeTranscriptMismatch])
    }
  }

  @Test func anotherMerchantOrTeamIsAnotherTranscript() throws {
    #expect(try sample.verify(merchantID: "merchant.other").codes == [.envelopeTranscriptMismatch])
    #expect(try sample.verify(teamID: "ABCDE12345").codes == [.envelopeTranscriptMismatch])
    let swapped = try sample.verify(merchantID: AppleSample.teamID, teamID: AppleSample.merchantID)
    #expect(swapped.codes == [.envelopeTranscriptMismatch])
  }

  @Test func anotherKeyIsUnknown() throws {
    #expect(try sample.verify(key: PrivateKey(generatingOn: .p256)).codes == [.envelopeRecipientKeyUnknown])
  }

  @Test func flippedCiphertextDoesNotOpen() throws {
    let item = try CBORItem(parsing: sample.envelope)
    let data = try #require(item[key: "data"])
    let end = data.startOffset + data.encoded.count
    for offset in [end - 6164, end - 3000, end - 17, end - 16, end - 1] {
      var envelope = sample.envelope
      envelope[offset] ^= 0x80
      #expect(try sample.verify(envelope: envelope).codes == [.envelopeDecryptionFailed])
    }
  }

  @Test func aServerRefusesThePublishedKeyBeforeOpening() throws {
    #expect(try sample.verify(publishedKey: .refuse).codes == [.appleSimulatorAnswer])
  }

  @Test func aLiveStoreRefusesThePublishedRoot() throws {
    #expect(try sample.verify(allowsTestCertificates: false).codes == [.testCertificate])
  }

  @Test func anotherRootIsUnknown() throws {
    let root = try PublishedVectors.bytes("iso18013-5-annexD/D.5.2-iaca-cert.der")
    #expect(try sample.verify(anchor: root).codes == [.issuerUnknown])
  }

  @Test func aRequestForOneElementGetsThatOneOnly() throws {
    var request = PresentationRequest(documents: [
      DocumentRequest(
        docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "family_name"))], ageOver: [21])
    ])
    // The sample's licence has expired by its `expiry_date`, which was not requested.
    #expect(try sample.verify(request: request).codes == [.documentExpired])
    request.documents[0].acceptsExpired = true
    let verdict = try sample.verify(request: request)
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    let document = try #require(presentation.documents.first)
    #expect(document.elements.map(\.reference.identifier) == ["family_name"])
    // Apple falls back to age_in_years by itself.
    #expect(document.ageAnswers.map(\.provedBy.identifier) == ["age_in_years"])
    #expect(document.unrequestedElements.count == 20)
  }
}

/// The sample's files and a way to verify them with one thing changed.
struct AppleSample {
  static let merchantID = "PassKit_Identity_Test_Merchant_ID"
  static let teamID = "PassKit_Identity_Test_Team_ID"
  static let recipientKeyHash = "b2c00f06b2df645691174f1331ade35141f17e19b3021d07560b4a71fc61818c"

  let envelope: [UInt8]
  let nonce: [UInt8]
  private let root: [UInt8]
  private let scalar: [UInt8]

  init() throws {
    envelope = try PublishedVectors.hex("apple-in-app/sample/hpke_envelope.cbor")
    scalar = try PublishedVectors.hex("apple-in-app/sample/merchant_encryption_private_scalar.hex")
    let pem = String(decoding: try PublishedVectors.bytes("apple-in-app/sample/issuer_root.crt"), as: UTF8.self)
    root = try #require(PEM.certificates(in: pem)?.first)
    let parameters = try PublishedVectors.bytes("apple-in-app/sample/session_transcript_parameters.txt")
    let line = try #require(String(decoding: parameters, as: UTF8.self).split(separator: "\n").first)
    nonce = try #require(Hex.decode(line.dropFirst("Nonce: ".count)))
  }

  func key() throws -> PrivateKey { try PrivateKey(curve: .p256, scalar: scalar) }

  func challenge() throws -> AppleChallenge {
    try AppleChallenge(nonce: nonce, merchantID: Self.merchantID, teamID: Self.teamID)
  }

  func verify(
    envelope: [UInt8]? = nil, nonce: [UInt8]? = nil, merchantID: String = merchantID, teamID: String = teamID,
    key: PrivateKey? = nil, anchor: [UInt8]? = nil, request: PresentationRequest? = nil,
    at time: String = "2022-06-01T00:00:00Z", skew: Int64 = 60,
    publishedKey: AppleInApp.PublishedKeyPolicy = .warn, allowsTestCertificates: Bool = true
  ) throws -> Verdict {
    let anchor = TrustAnchor(certificate: try Certificate(der: anchor ?? root))
    let trust = try TrustStore(anchors: [anchor], allowsTestCertificates: allowsTestCertificates)
    let apple = AppleInApp(
      verifier: MdocVerifier(trust: trust, clockSkew: skew), keys: [try key ?? self.key()], publishedKey: publishedKey)
    let challenge = try AppleChallenge(nonce: nonce ?? self.nonce, merchantID: merchantID, teamID: teamID)
    return apple.authenticate(
      envelope ?? self.envelope, answering: challenge, request: request,
      at: try #require(Timestamp(rfc3339: time))
    ).conclude()
  }
}

extension Verdict {
  /// The codes of all failed checks.
  var codes: [Code] { report.reasons.map(\.code) }
}
