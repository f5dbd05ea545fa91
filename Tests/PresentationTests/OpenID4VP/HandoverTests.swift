import Base
import Cryptography
import JOSE
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// The transcripts that OpenID4VP 1.0 prints (B.2.6.1 and B.2.6.2), byte for byte.
@Suite struct HandoverTests {
  private static let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  private static let printedThumbprint =
    Hex.decode("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047") ?? []

  @Test func theHandoverOfRedirectsIsThePrintedOne() {
    let recipient = OpenID4VPRecipient.client(
      id: "x509_san_dns:example.com", responseURI: "https://example.com/response")
    #expect(
      Hex.encode(recipient.transcript(nonce: Self.nonce, thumbprint: .bytes(Self.printedThumbprint)).encoded)
        == "83f6f682714f70656e494434565048616e646f7665725820"
        + "048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac")
  }

  @Test func theHandoverOfTheDigitalCredentialsAPIIsThePrintedOne() {
    let recipient = OpenID4VPRecipient.origin("https://example.com")
    #expect(
      Hex.encode(recipient.transcript(nonce: Self.nonce, thumbprint: .bytes(Self.printedThumbprint)).encoded)
        == "83f6f682764f70656e4944345650444341504948616e646f7665725820"
        + "fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a")
  }

  /// The published file, which has the same two and two without a key.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func everyPublishedTranscriptIsReproduced() throws {
    let file = try JSON(parsing: PublishedVectors.bytes("openid4vp-1.0/handover-vectors.json"))
    let vectors = try #require(file.array)
    #expect(vectors.count == 4)
    for vector in vectors {
      let nonce = try #require(vector["nonce"]?.string)
      let recipient: OpenID4VPRecipient
      if let origin = vector["origin"]?.string {
        recipient = .origin(origin)
      } else {
        recipient = .client(
          id: try #require(vector["clientId"]?.string), responseURI: try #require(vector["responseUri"]?.string))
      }
      let key = try vector["jwk"].flatMap { $0.isNull ? nil : try JSONWebKey(parsing: $0).key }
      let thumbprint = key.map { JSONWebKey.thumbprint(of: $0) }
      #expect(thumbprint.map { Hex.encode($0) } == vector["jwkThumbprintHex"]?.string)
      let transcript = recipient.transcript(nonce: nonce, thumbprint: thumbprint.map { .bytes($0) } ?? nil)
      #expect(Hex.encode(transcript.encoded) == vector["sessionTranscriptHex"]?.string)
    }
  }

  @Test func aChallengeHasTheTranscriptOfItsParts() throws {
    let fixture = try OpenID4VPFixture()
    let thumbprint = thumbprint(of: fixture.key.publicKey)
    for recipient in [OpenID4VPFixture.page, OpenID4VPFixture.server] {
      #expect(
        fixture.challenge(recipient).transcript
          == recipient.transcript(nonce: OpenID4VPFixture.nonce, thumbprint: .bytes(thumbprint)))
      #expect(
        fixture.challenge(recipient, isEncrypted: false).transcript
          == recipient.transcript(nonce: OpenID4VPFixture.nonce, thumbprint: nil))
    }
  }

  @Test func freshChallengesShareNothing() throws {
    let first = try OpenID4VPChallenge(freshFor: OpenID4VPFixture.server, isEncrypted: true)
    let second = try OpenID4VPChallenge(freshFor: OpenID4VPFixture.server, isEncrypted: true)
    #expect(first.nonce != second.nonce && first.state != second.state && first.nonce != first.state)
    #expect(Base64.decodeURLSafe(first.nonce)?.count == 32)
    #expect(first.key?.publicKey != second.key?.publicKey)
    let page = try OpenID4VPChallenge(freshFor: OpenID4VPFixture.page, isEncrypted: false)
    #expect(page.state == nil && page.key == nil)
  }

  @Test(arguments: [OpenID4VPFixture.page, OpenID4VPFixture.server], [true, false])
  func whatWasKeptIsTheSameChallenge(recipient: OpenID4VPRecipient, isEncrypted: Bool) throws {
    let made = try OpenID4VPChallenge(freshFor: recipient, isEncrypted: isEncrypted)
    let kept = try made.serialized()
    guard let read = OpenID4VPChallenge(serialized: kept) else {
      Issue.record("it is not read")
      return
    }
    #expect(read.transcript == made.transcript && read.state == made.state && read.recipient == made.recipient)
    #expect(read.key?.publicKey == made.key?.publicKey)
    let bytes = kept.exposed()
    for length in [0, 1, 20, 33, bytes.count - 1] {
      let isRead = OpenID4VPChallenge(serialized: SecretBytes(copying: Array(bytes.prefix(length)))) != nil
      #expect(!isRead, "\(length)")
    }
  }
}

/// The examples of OpenID4VP 1.0, and a response to another verifier, compared with our requests and our reader.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedOpenID4VPTests {
  /// Our request equals the example's, except for its ids and the choices that it leaves to the wallet.
  @Test func ourQueryIsThatOfTheExample() throws {
    let example = try json("openid4vp-1.0/examples/query_lang/simple_mdoc.json")
    let credential = try #require(example["credentials"]?.array?.first)
    let paths = try #require(credential["claims"]?.array).compactMap { $0["path"]?.array?.compactMap(\.string) }
    let request = PresentationRequest(documents: [
      DocumentRequest(
        docType: try #require(credential["meta"]?["doctype_value"]?.string),
        elements: paths.map { ElementRequest(ElementReference($0[0], $0[1])) })
    ])
    let ours = try #require(DCQLQuery(request).json["credentials"]?.array?.first)
    #expect(ours["format"] == credential["format"] && ours["meta"] == credential["meta"])
    #expect(
      ours["claims"]?.array?.compactMap { $0["path"] } == credential["claims"]?.array?.compactMap { $0["path"] })
    #expect(Set(ours.object?.map(\.name) ?? []) == Set(credential.object?.map(\.name) ?? []))
  }

  /// Our members have the example's order; a signed request also has `expected_origins` and a client identifier.
  @Test func ourMetadataHasTheMembersOfTheExample() throws {
    let example = try json("openid4vp-1.0/examples/client_metadata/mso_mdoc_verifier_metadata.json")
    let fixture = try OpenID4VPFixture()
    let ours = OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).unsigned["client_metadata"]
    let theirs = try #require(example["vp_formats_supported"]?["mso_mdoc"])
    let formats = try #require(ours?["vp_formats_supported"]?["mso_mdoc"])
    #expect(Set(formats.object?.map(\.name) ?? []) == Set(theirs.object?.map(\.name) ?? []))
  }

  @Test func theErrorOfTheExampleHasItsCode() throws {
    let example = try json("openid4vp-1.0/examples/digital_credentials_api/error_invalid_request.json")
    #expect(Code(walletError: try #require(example["error"]?.string)) == .walletInvalidRequest)
  }

  /// A response to another verifier's request: correctly formed, for a query that we did not make.
  @Test func aForeignAnswerIsReadAndIsForNoQueryOfOurs() throws {
    let answer = try json("iso18013-7-annexC/vck-signed-response.json")
    #expect(answer["protocol"] == "openid4vp-v1-signed")
    let data = try #require(answer["data"])
    let fixture = try OpenID4VPFixture()
    #expect(fixture.verify(data).codes == [.envelopeNotEncrypted])
    #expect(fixture.verify(data, isEncrypted: false).codes == [.vpTokenMalformed])
    // Under our query's name it is a DeviceResponse like any other, signed for another session by another issuer.
    let presentations = try #require(data["vp_token"]?.object?.first?.value)
    let renamed: JSON = ["vp_token": ["document_0": presentations]]
    let codes = fixture.verify(renamed, isEncrypted: false).codes
    #expect(codes.contains(.issuerUnknown) && codes.contains(.deviceSignatureInvalid))
  }

  private func json(_ path: String) throws -> JSON { try JSON(parsing: PublishedVectors.bytes(path)) }
}
