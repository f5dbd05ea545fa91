import Base
import Cryptography
import JOSE
import Mdoc
import PKIX
import TestSupport
import Testing
import Trust

@testable import Presentation

/// The worked example of ISO/IEC TS 18013-7, B.6, valid from 2024-04-28T21:02:25Z to 2024-05-08T21:02:24Z.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedAnnexBTests {
  private static let folder = "iso18013-7-annexB/"
  private let parameters: JSON
  private let key: PrivateKey

  init() throws {
    parameters = try Self.json("authorization-request-parameters.json")
    let jwk = try Self.json("reader-ephemeral-private.jwk.json")
    key = try PrivateKey(curve: .p256, scalar: try #require(jwk["d"]?.string.flatMap(Base64.decodeURLSafe)))
  }

  @Test func theTranscriptIsThePrintedOne() throws {
    let transcript = AnnexB.transcript(
      clientID: "example.com", responseURI: "https://example.com/12345/response", nonce: "abcdefgh1234567890",
      mdocNonce: "1234567890abcdefgh")
    #expect(transcript.encoded == (try PublishedVectors.bytes(Self.folder + "session-transcript.cbor")))
    let handover = try PublishedVectors.bytes(Self.folder + "oid4vp-handover.cbor")
    #expect(transcript.encoded == [0x83, 0xf6, 0xf6] + handover)
  }

  @Test func theAnswerOpensToThePrintedParameters() throws {
    let jwe = try CompactJWE(parsing: response.utf8)
    #expect(jwe.header.partyUInfo == Array("1234567890abcdefgh".utf8))
    #expect(jwe.header.partyVInfo == Array("abcdefgh1234567890".utf8))
    #expect(jwe.header.contentEncryption == .a256GCM)
    let opened = try JSON(parsing: jwe.decrypt(with: key))
    let printed = try Self.json("authorization-response-parameters.json")
    #expect(opened["vp_token"] == printed["vp_token"])
    #expect(opened["presentation_submission"] == printed["presentation_submission"])
    let token = try #require(opened["vp_token"]?.string.flatMap(Base64.decodeURLSafe))
    #expect(token == (try PublishedVectors.bytes(Self.folder + "device-response.cbor")))
  }

  @Test(
    arguments: [
      ("2024-04-28T21:02:25Z", nil), ("2024-05-01T00:00:00Z", nil), ("2024-05-08T21:02:24Z", nil),
      ("2024-04-28T21:02:24Z", Code.notYetValid), ("2024-05-08T21:02:25Z", .expired),
    ] as [(String, Code?)])
  func theAnswerVerifiesInsideItsWindow(time: String, code: Code?) throws {
    let verdict = try verify(at: time)
    if let code {
      #expect(verdict.codes.contains(code))
      return
    }
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    let document = try #require(presentation.documents.first)
    #expect(document.elements.count == 11)
    #expect(document.deviceAuthentication == .signature)
    #expect(document.elements.first { $0.reference.identifier == "given_name" }?.value == .text("Alice"))
  }

  @Test func anotherNonceClientOrAddressIsAnotherTranscript() throws {
    #expect(try verify(nonce: "abcdefgh1234567891").codes == [.deviceSignatureInvalid])
    #expect(try verify(clientID: "example.com ").codes == [.deviceSignatureInvalid])
    #expect(try verify(responseURI: "https://example.com/12346/response").codes == [.deviceSignatureInvalid])
    #expect(try verify(definitionID: "another").codes == [.vpTokenMalformed])
    #expect(try verify(key: PrivateKey(generatingOn: .p256)).codes == [.jweKeyUnknown])
  }

  /// The request object: its key is in the header's certificate, and its parameters are as printed.
  @Test func theRequestObjectIsSignedByItsReader() throws {
    let jar = try text("authorization-request.jar.txt")
    let jws = try CompactJWS(parsing: jar.utf8)
    let leaf = try Certificate(der: try #require(jws.header.certificateChain?.first))
    #expect(leaf.dnsNames == ["example.com"])
    #expect(jws.verify(with: try #require(leaf.publicKey)) == .valid)
    let payload = try JSON(parsing: jws.payload)
    #expect(payload["client_id"] == "example.com" && payload["nonce"] == parameters["nonce"])
  }

  /// Our request for the same elements, session and key equals the printed one, except for the definition's id.
  @Test func ourRequestIsThePrintedOne() throws {
    let printed = try Self.json("presentation-definition.json")
    let fields = try #require(printed["input_descriptors"]?.array?.first?["constraints"]?["fields"]?.array)
    let elements = fields.compactMap { $0["path"]?.array?.first?.string?.split(separator: "'") }
      .map { ElementRequest(ElementReference(String($0[1]), String($0[3]))) }
    #expect(elements.count == 11)
    let request = PresentationRequest(documents: [DocumentRequest(docType: DocType.mDL, elements: elements)])
    let definition = PresentationDefinition(request).json
    #expect(sorted(definition["input_descriptors"]) == sorted(printed["input_descriptors"]))

    let annexB = AnnexBRequest(request, challenge: challenge())
    let made = try #require(annexB)
    let readerScalar = try #require(Self.json("reader-static-private.jwk.json")["d"]?.string)
    let certificate = try #require(Self.json("jar-header.json")["x5c"]?.array?.first?.string.flatMap(Base64.decode))
    let reader = try ReaderIdentity(
      key: PrivateKey(curve: .p256, scalar: try #require(Base64.decodeURLSafe(readerScalar))),
      certificates: [Certificate(der: certificate)], clientIdentifier: .dnsName("example.com"))
    let payload = try JSON(parsing: CompactJWS(parsing: made.signed(by: reader).utf8).payload)
    #expect(Set(payload.object?.map(\.name) ?? []) == Set(parameters.object?.map(\.name) ?? []))
    // The printed client_id has a surplus space.
    for name in payload.object?.map(\.name) ?? [] where name != "presentation_definition" && name != "client_id" {
      #expect(sorted(payload[name]) == sorted(parameters[name]), "\(name)")
    }
    #expect(payload["client_id"] == "example.com")
  }

  /// With the members of objects by name.
  private func sorted(_ json: JSON?) -> JSON? {
    switch json {
    case .object(let members):
      .object(
        members.map { JSON.Member($0.name, sorted($0.value) ?? .null) }.sorted { $0.name < $1.name })
    case .array(let elements): .array(elements.map { sorted($0) ?? .null })
    default: json
    }
  }

  private func challenge(
    nonce: String = "abcdefgh1234567890", clientID: String = "example.com",
    responseURI: String = "https://example.com/12345/response", key: PrivateKey? = nil
  ) -> OpenID4VPChallenge {
    OpenID4VPChallenge(
      recipient: .client(id: clientID, responseURI: responseURI), nonce: nonce,
      state: parameters["state"]?.string, key: key ?? self.key)
  }

  private var response: String { get throws { try text("authorization-response.jwe.txt") } }

  private func verify(
    nonce: String = "abcdefgh1234567890", clientID: String = "example.com",
    responseURI: String = "https://example.com/12345/response", definitionID: String = "mDL-sample-req",
    key: PrivateKey? = nil, at time: String = "2024-05-01T00:00:00Z"
  ) throws -> Verdict {
    let pem = try text("iaca.pem")
    let root = try Certificate(der: try #require(PEM.certificates(in: pem)?.first))
    let trust = try TrustStore(anchors: [TrustAnchor(certificate: root)], allowsTestCertificates: true)
    let challenge = challenge(nonce: nonce, clientID: clientID, responseURI: responseURI, key: key)
    return AnnexB(verifier: MdocVerifier(trust: trust, clockSkew: 0)).authenticate(
      ["response": .string(try response)], answering: challenge, request: nil, definitionID: definitionID,
      at: try #require(Timestamp(rfc3339: time))
    ).conclude()
  }

  private func text(_ name: String) throws -> String {
    let text = String(decoding: try PublishedVectors.bytes(Self.folder + name), as: UTF8.self)
    return name.hasSuffix(".pem") ? text : String(text.split { $0.isWhitespace }.joined())
  }

  private static func json(_ name: String) throws -> JSON { try JSON(parsing: PublishedVectors.bytes(folder + name)) }
}
