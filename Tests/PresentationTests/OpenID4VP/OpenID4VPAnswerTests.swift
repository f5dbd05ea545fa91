import Base
import Cryptography
import JOSE
import Mdoc
import Mock
import Testing

@testable import Presentation

/// Correct responses verify, in every form that a request asks for.
@Suite struct OpenID4VPAnswerTests {
  /// The mock wallet reads the request itself and shares nothing with the verifier.
  @Test(arguments: [true, false], [MockWebAuthentication.signature, .mac])
  func theMockWalletAnswersPages(isEncrypted: Bool, authentication: MockWebAuthentication) throws {
    guard isEncrypted || authentication == .signature else { return }
    let fixture = try OpenID4VPFixture()
    let request = OpenID4VPRequest(fixture.request, challenge: fixture.challenge(isEncrypted: isEncrypted))
    let forms: [(String, JSON)] = [
      ("openid4vp-v1-unsigned", request.unsigned),
      ("openid4vp-v1-signed", ["request": .string(try request.signed(by: fixture.reader()))]),
      (
        "openid4vp-v1-multisigned",
        ["request": try request.signed(by: [fixture.reader(), fixture.reader("other.example")])]
      ),
    ]
    for (name, data) in forms {
      let answer = try fixture.setup.wallet.answer(
        digitalCredential: name, data: data, origin: "https://shop.example", authentication: authentication,
        at: fixture.setup.now)
      #expect(answer.data["response"] != nil || !isEncrypted)
      let document = try accepted(fixture.verify(answer.data, isEncrypted: isEncrypted)).documents.first
      #expect(document?.docType == DocType.mDL)
      #expect(document?.deviceAuthentication == (authentication == .mac ? .mac : .signature))
      #expect(document?.ageAnswers.map(\.answer) == [true])
    }
  }

  @Test(arguments: [true, false])
  func theMockWalletAnswersRequestObjects(isEncrypted: Bool) throws {
    let fixture = try OpenID4VPFixture()
    let challenge = fixture.challenge(OpenID4VPFixture.server, isEncrypted: isEncrypted)
    let reader = try fixture.reader(by: .dnsName("verifier.example"))
    let object = try OpenID4VPRequest(fixture.request, challenge: challenge).signed(by: reader)
    let answer = try fixture.setup.wallet.answer(requestObject: Array(object.utf8), at: fixture.setup.now)
    let verdict = fixture.verify(answer.data, as: OpenID4VPFixture.server, isEncrypted: isEncrypted)
    #expect(try accepted(verdict).documents.count == 1)
  }

  @Test func allRequiredDocumentsComeByAQueryEach() throws {
    let fixture = try OpenID4VPFixture(request: OpenID4VPFixture.bothDocuments)
    let data = OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).unsigned
    let answer = try fixture.setup.wallet.answer(
      digitalCredential: "openid4vp-v1-unsigned", data: data, origin: "https://shop.example", at: fixture.setup.now)
    #expect(answer.deviceResponses.count == 2)
    #expect(try accepted(fixture.verify(answer.data)).documents.map(\.docType) == [DocType.mDL, DocType.photoID])
  }

  @Test func theSecondOfTwoChoicesIsGoodAsWell() throws {
    let fixture = try OpenID4VPFixture()
    let response = try fixture.deviceResponse(OpenID4VPFixture.photoID, over: fixture.challenge().transcript)
    let token: JSON = ["document_1": [.string(Base64.encodeURLSafe(response))]]
    let verdict = fixture.verify(try fixture.encrypt(fixture.parameters(token)))
    #expect(try accepted(verdict).documents.map(\.docType) == [DocType.photoID])
  }

  @Test(arguments: ["A128GCM", "A256GCM"])
  func bothContentEncryptionsAreRead(encryption: String) throws {
    let fixture = try OpenID4VPFixture()
    let response = try fixture.encrypt(fixture.parameters(fixture.token())) { $0["enc"] = .string(encryption) }
    #expect(fixture.verify(response).codes == [])
  }

  /// RFC 6749, 4.1.2: a client ignores parameters that it does not know.
  @Test func parametersThatAreNotKnownAreIgnored() throws {
    let fixture = try OpenID4VPFixture()
    let inside: JSON = ["vp_token": try fixture.token(), "iss": "https://wallet.example", "iat": 1, "state": "x"]
    var response = try fixture.encrypt(inside)
    response = .object((response.object ?? []) + [JSON.Member("wallet_version", 3)])
    #expect(fixture.verify(response).codes == [])
  }

  private func accepted(_ verdict: Verdict) throws -> AcceptedPresentation {
    guard case .accepted(let presentation) = verdict.outcome else {
      throw Refused(codes: verdict.codes)
    }
    return presentation
  }

  private struct Refused: Error { let codes: [Code] }
}
