import Base
import Cryptography
import JOSE
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Presentation

/// ISO/IEC TS 18013-7, Annex B: correct responses verify, and each rule broken by itself gives its own code.
@Suite struct AnnexBTests {
  private static let server = OpenID4VPRecipient.client(
    id: "verifier.example", responseURI: "https://verifier.example/v1/wallet/shop/vs_1/response")
  private static let mdocNonce = "1234567890abcdefgh"
  let fixture: OpenID4VPFixture

  init() throws { fixture = try OpenID4VPFixture() }

  @Test(arguments: [MockWebAuthentication.signature, .mac])
  func theMockWalletAnswers(authentication: MockWebAuthentication) throws {
    let answer = try fixture.setup.wallet.answer(
      requestObject: Array(try requestObject().utf8), authentication: authentication, at: fixture.setup.now)
    let verdict = verify(answer.data)
    #expect(verdict.codes == [])
    guard case .accepted(let presentation) = verdict.outcome else { return }
    #expect(presentation.documents.map(\.docType) == [DocType.mDL])
  }

  @Test func allDocumentsComeInOneResponse() throws {
    let fixture = try OpenID4VPFixture(request: OpenID4VPFixture.bothDocuments)
    let answer = try fixture.setup.wallet.answer(
      requestObject: Array(try requestObject(fixture).utf8), at: fixture.setup.now)
    let verdict = verify(answer.data, fixture)
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    #expect(presentation.documents.map(\.docType) == [DocType.mDL, DocType.photoID])
  }

  @Test func theRequestHasTheParametersOfItsDraft() throws {
    let jws = try CompactJWS(parsing: requestObject().utf8)
    #expect(jws.header.type == "oauth-authz-req+jwt")
    let payload = try JSON(parsing: jws.payload)
    #expect(payload["client_id"] == "verifier.example" && payload["client_id_scheme"] == "x509_san_dns")
    #expect(payload["response_mode"] == "direct_post.jwt" && payload["response_type"] == "vp_token")
    #expect(payload["dcql_query"] == nil && payload["presentation_definition"] != nil)
    let metadata = try #require(payload["client_metadata"])
    #expect(metadata["authorization_encrypted_response_alg"] == "ECDH-ES")
    #expect(metadata["authorization_encrypted_response_enc"] == "A256GCM")
    #expect(metadata["jwks"]?["keys"]?.array?.count == 1 && metadata["require_signed_request_object"] == true)
    #expect(metadata["vp_formats"]?["mso_mdoc"]?["alg"]?.array?.first == "ES256")
  }

  @Test func definitionsNameElementsByBracketedPaths() throws {
    var optional = ElementRequest(ElementReference("org.example.o'clock", "a\\b"), intentToRetain: true)
    optional.isRequired = false
    let one = PresentationRequest(documents: [
      DocumentRequest(
        docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "birth_date")), optional])
    ])
    let json = PresentationDefinition(one).json
    #expect(json["submission_requirements"] == nil)
    let descriptor = try #require(json["input_descriptors"]?.array?.first)
    #expect(descriptor["id"]?.string == DocType.mDL && descriptor["group"] == nil)
    #expect(
      descriptor["constraints"] == [
        "fields": [
          ["path": ["$['org.iso.18013.5.1']['birth_date']"], "intent_to_retain": false],
          ["path": ["$['org.example.o\\'clock']['a\\\\b']"], "intent_to_retain": true, "optional": true],
        ],
        "limit_disclosure": "required",
      ])
    let choice = PresentationDefinition(OpenID4VPFixture.anyDocument).json
    #expect(choice["submission_requirements"] == [["rule": "pick", "count": 1, "from": "any"]])
    #expect(choice["input_descriptors"]?.array?.allSatisfy { $0["group"] == ["any"] } == true)
    #expect(PresentationDefinition(OpenID4VPFixture.bothDocuments).json["submission_requirements"] == nil)
  }

  @Test func thereIsNoRequestWithoutAKeyOrForAPage() {
    let clear = fixture.challenge(Self.server, isEncrypted: false)
    let isMadeInClear = AnnexBRequest(fixture.request, challenge: clear) != nil
    let isMadeForPage = AnnexBRequest(fixture.request, challenge: fixture.challenge()) != nil
    #expect(!isMadeInClear && !isMadeForPage)
  }

  // MARK: Wrong answers

  @Test func aChallengeOfAnotherProtocolIsNone() throws {
    for challengeRecipient in [OpenID4VPFixture.page, Self.server] {
      let isEncrypted = challengeRecipient == OpenID4VPFixture.page
      let verdict = AnnexB(verifier: MdocVerifier(trust: fixture.setup.trust)).authenticate(
        try encrypt(parameters()), answering: fixture.challenge(challengeRecipient, isEncrypted: isEncrypted),
        request: fixture.request, at: fixture.setup.now
      ).conclude()
      #expect(verdict.codes == [.sessionProtocolMismatch])
    }
  }

  @Test func clearAnswersAreRefused() throws {
    let parameters = try parameters()
    #expect(verify(parameters).codes == [.envelopeNotEncrypted])
    #expect(verify(["state": "x"]).codes == [.envelopeMalformed])
  }

  @Test(arguments: [nil, "", .string(Base64.encodeURLSafe([0xff, 0xfe]))] as [JSON?])
  func theHeaderHasTheNonceOfTheMdoc(apu: JSON?) throws {
    let response = try fixture.encrypt(parameters()) { $0["apu"] = apu }
    #expect(verify(response).codes == [.jweHeaderInvalid])
  }

  @Test func anotherNonceInTheHeaderIsAnotherTranscript() throws {
    let response = try fixture.encrypt(parameters()) { $0["apu"] = .string(Base64.encodeURLSafe("another".utf8)) }
    #expect(verify(response).codes == [.deviceSignatureInvalid])
  }

  /// The standard's printed example has none.
  @Test func aMissingStateOnlyWarns() throws {
    let verdict = try verify(encrypt(parameters()))
    #expect(verdict.codes == [])
    #expect(verdict.report.checks.contains(Check(.stateMissing, .warning, detail: "state is missing")))
  }

  @Test func aStateThatComesMustBeOurs() throws {
    #expect(try verify(encrypt(parameters(state: OpenID4VPFixture.state))).codes == [])
    #expect(try verify(encrypt(parameters(state: "other"))).codes == [.stateMismatch])
    let parameters = try #require(try parameters().object) + [JSON.Member("state", 1)]
    #expect(try verify(encrypt(.object(parameters))).codes == [.stateMismatch])
  }

  @Test func theTokenIsOneResponseForOurDefinition() throws {
    let good = try parameters()
    let token = try #require(good["vp_token"])
    let submission = try #require(good["presentation_submission"])
    let wrong: [JSON] = [
      ["vp_token": token], ["presentation_submission": submission],
      ["vp_token": [token], "presentation_submission": submission],
      ["vp_token": ["document_0": [token]], "presentation_submission": submission],
      ["vp_token": "", "presentation_submission": submission],
      ["vp_token": .string((token.string ?? "") + "="), "presentation_submission": submission],
      ["vp_token": token, "presentation_submission": ["definition_id": "another"]],
    ]
    for parameters in wrong { #expect(try verify(encrypt(parameters)).codes == [.vpTokenMalformed]) }
  }

  @Test func mistakesAreNamed() throws {
    guard case .client(let id, let uri) = Self.server else { return }
    let thumbprint = thumbprint(of: fixture.key.publicKey)
    let others: [(String, SessionTranscript)] = [
      ("the client_id x509_san_dns:verifier.example", transcript(clientID: "x509_san_dns:" + id)),
      ("the client_id x509_hash:abc", transcript(clientID: "x509_hash:abc")),
      ("the response_uri \(uri)/", transcript(responseURI: uri + "/")),
      (
        "the handover of OpenID4VP 1.0",
        Self.server.transcript(nonce: OpenID4VPFixture.nonce, thumbprint: .bytes(thumbprint))
      ),
    ]
    for (difference, transcript) in others {
      let verdict = verify(try encrypt(parameters(over: transcript)))
      #expect(verdict.codes == [.deviceSignatureInvalid])
      let check = verdict.report.documents.first?.checks.first { $0.outcome == .failed }
      #expect(check?.detail == "the device signed for \(difference)")
    }
  }

  // MARK: Parts

  private func transcript(
    clientID: String = "verifier.example",
    responseURI: String = "https://verifier.example/v1/wallet/shop/vs_1/response"
  ) -> SessionTranscript {
    AnnexB.transcript(
      clientID: clientID, responseURI: responseURI, nonce: OpenID4VPFixture.nonce, mdocNonce: Self.mdocNonce)
  }

  private func requestObject(_ other: OpenID4VPFixture? = nil) throws -> String {
    let fixture = other ?? self.fixture
    let made = AnnexBRequest(fixture.request, challenge: fixture.challenge(Self.server))
    return try #require(made).signed(by: fixture.reader(by: .dnsName("verifier.example")))
  }

  private func parameters(over transcript: SessionTranscript? = nil, state: String? = nil) throws -> JSON {
    let response = try fixture.deviceResponse(over: transcript ?? self.transcript())
    let map: JSON = [["id": .string(DocType.mDL), "format": "mso_mdoc", "path": "$"]]
    return .members([
      "vp_token": .string(Base64.encodeURLSafe(response)),
      "presentation_submission": [
        "definition_id": .string(PresentationDefinition.id), "id": "1", "descriptor_map": map,
      ],
      "state": state.map(JSON.string),
    ])
  }

  private func encrypt(_ parameters: JSON) throws -> JSON {
    try fixture.encrypt(parameters) { $0["apu"] = .string(Base64.encodeURLSafe(Self.mdocNonce.utf8)) }
  }

  private func verify(_ response: JSON, _ other: OpenID4VPFixture? = nil) -> Verdict {
    let fixture = other ?? self.fixture
    return AnnexB(verifier: MdocVerifier(trust: fixture.setup.trust)).authenticate(
      response, answering: fixture.challenge(Self.server), request: fixture.request, names: OpenID4VPFixture.names,
      at: fixture.setup.now
    ).conclude()
  }
}
