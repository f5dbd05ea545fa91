import Base
import Compression
import Cryptography
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Presentation

/// Each rule broken by itself gives its own code.
@Suite struct OpenID4VPRefusalTests {
  let fixture: OpenID4VPFixture

  init() throws { fixture = try OpenID4VPFixture() }

  // MARK: Encryption

  @Test(arguments: [OpenID4VPFixture.page, OpenID4VPFixture.server])
  func aClearAnswerToAnEncryptedRequestIsRefused(recipient: OpenID4VPRecipient) throws {
    let clear = fixture.parameters(try fixture.token(recipient), state: OpenID4VPFixture.state)
    #expect(fixture.verify(clear, as: recipient).codes == [.envelopeNotEncrypted])
  }

  @Test(
    arguments: [
      [:], ["response": 1], ["response": "a.b"], ["response": "a.b.c.d.e.f"], ["response": ""], ["state": "x"],
    ] as [JSON])
  func whatIsNoResponseIsMalformed(response: JSON) {
    #expect(fixture.verify(response).codes == [.envelopeMalformed])
  }

  @Test(
    arguments: [
      ("alg", "RSA-OAEP", .jweAlgorithmUnsupported), ("alg", "dir", .jweAlgorithmUnsupported),
      ("alg", "none", .jweAlgorithmUnsupported), ("enc", "A128CBC-HS256", .jweAlgorithmUnsupported),
      ("zip", "DEF", .envelopePlaintextMalformed), ("zip", "def", .jweCompressionNotAllowed),
      ("zip", .null, .jweCompressionNotAllowed), ("crit", ["kid"], .jweHeaderInvalid), ("apu", 1, .jweHeaderInvalid),
      ("kid", "another", .jweKeyUnknown), ("kid", nil, .jweKeyUnknown), ("epk", nil, .jweEphemeralKeyInvalid),
      ("epk", ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"], .jweEphemeralKeyInvalid),
    ] as [(String, JSON?, Code)])
  func headersAreOfTheProfile(name: String, value: JSON?, code: Code) throws {
    let response = try fixture.encrypt(fixture.parameters(fixture.token())) { $0[name] = value }
    #expect(fixture.verify(response).codes == [code])
  }

  @Test func anEphemeralKeyOnAnotherCurveIsRefused() throws {
    let other = JWEDraft.webKey(try PrivateKey(generatingOn: .p384).publicKey)
    let response = try fixture.encrypt(fixture.parameters(fixture.token())) { $0["epk"] = other }
    #expect(fixture.verify(response).codes == [.jweEphemeralKeyInvalid])
  }

  /// Under our key's name, but to another key: of another session, say.
  @Test func whatIsEncryptedToAnotherKeyDoesNotOpen() throws {
    let other = try PrivateKey(generatingOn: .p256)
    let name = Base64.encodeURLSafe(thumbprint(of: fixture.key.publicKey))
    let response = try JWEDraft(to: other.publicKey, keyID: name)
      .encrypt(fixture.parameters(fixture.token()).serialized())
    #expect(fixture.verify(["response": .string(response)]).codes == [.envelopeDecryptionFailed])
  }

  @Test(arguments: ["", "[]", "null", "\"vp_token\"", "{", #"{"vp_token":{},"vp_token":{}}"#])
  func aPlaintextThatIsNoObjectIsMalformed(text: String) throws {
    let response = try fixture.encrypt(bytes: Array(text.utf8))
    #expect(fixture.verify(response).codes == [.envelopePlaintextMalformed])
  }

  // MARK: State

  /// The transcript binds the session, so what lacks the state is judged.
  @Test(arguments: [true, false])
  func aMissingStateOnlyWarns(isEncrypted: Bool) throws {
    let challenge = fixture.challenge(OpenID4VPFixture.server, isEncrypted: isEncrypted)
    let token = try fixture.token(over: challenge.transcript)
    let parameters = fixture.parameters(isEncrypted ? token : .string(token.text()), state: nil)
    let response = isEncrypted ? try fixture.encrypt(parameters) : parameters
    let verdict = fixture.verify(response, as: OpenID4VPFixture.server, isEncrypted: isEncrypted)
    #expect(verdict.codes == [])
    #expect(verdict.report.checks.filter { $0.outcome == .warning }.map(\.code) == [.stateMissing])
    let strict = fixture.verify(response, as: OpenID4VPFixture.server, isEncrypted: isEncrypted, isStrict: true)
    #expect(strict.codes == [.stateMissing])
  }

  @Test(
    arguments: ["", "other", OpenID4VPFixture.state + "x", OpenID4VPFixture.state.lowercased()], [true, false])
  func postedAnswersCarryTheState(state: String?, isEncrypted: Bool) throws {
    let challenge = fixture.challenge(OpenID4VPFixture.server, isEncrypted: isEncrypted)
    let token = try fixture.token(over: challenge.transcript)
    let parameters = fixture.parameters(isEncrypted ? token : .string(token.text()), state: state)
    let response = isEncrypted ? try fixture.encrypt(parameters) : parameters
    let verdict = fixture.verify(response, as: OpenID4VPFixture.server, isEncrypted: isEncrypted)
    #expect(verdict.codes == [.stateMismatch])
  }

  // MARK: vp_token

  @Test func aTokenIsAnObjectOfArraysOfOneTextForQueriesThatWereMade() throws {
    let good = try fixture.token()
    let text = try #require(good["document_0"]?.array?.first)
    let wrong: [JSON?] = [
      nil, .null, "eyJ", [text], text, ["document_0": text], ["document_0": []], ["document_0": [text, text]],
      ["document_0": [1]], ["document_0": [[text]]], ["document_0": .null], ["document_0": ["response": text]],
      ["document_0": [.string((text.string ?? "") + "=")]], ["document_0": [.string(" " + (text.string ?? ""))]],
      ["document_0": [""]], ["document_0": ["+/+/"]], ["document_2": [text]], ["": [text]],
      ["document_0": [text], "document_2": [text]], ["Document_0": [text]],
    ]
    for token in wrong {
      let response = try fixture.encrypt(.members(["vp_token": token]))
      #expect(fixture.verify(response).codes == [.vpTokenMalformed], "\(String(describing: token).prefix(40))")
    }
  }

  @Test func oneOfTheChoicesMustBeAnswered() throws {
    #expect(fixture.verify(try fixture.encrypt(["vp_token": [:]])).codes == [.vpTokenIncomplete])
  }

  @Test func everyRequiredDocumentMustBeAnswered() throws {
    let fixture = try OpenID4VPFixture(request: OpenID4VPFixture.bothDocuments)
    let verdict = fixture.verify(try fixture.encrypt(fixture.parameters(fixture.token())))
    #expect(verdict.codes == [.vpTokenIncomplete])
  }

  @Test func moreThanOneOfTheChoicesIsTooMuch() throws {
    let transcript = fixture.challenge().transcript
    let token: JSON = [
      "document_0": [.string(Base64.encodeURLSafe(try fixture.deviceResponse(over: transcript)))],
      "document_1": [
        .string(Base64.encodeURLSafe(try fixture.deviceResponse(OpenID4VPFixture.photoID, over: transcript)))
      ],
    ]
    let verdict = fixture.verify(try fixture.encrypt(fixture.parameters(token)))
    #expect(verdict.codes == [.documentUnexpected])
  }

  /// D16: an answer to one query holds one document, of the type that was asked for.
  @Test func aResponseOfAnotherTypeOrOfTwoDocumentsIsUnexpected() throws {
    let transcript = fixture.challenge().transcript
    let other = try fixture.deviceResponse(OpenID4VPFixture.photoID, over: transcript)
    let both = try fixture.setup.wallet.answer(.anyOf, transcript: transcript.encoded, at: fixture.setup.now).bytes
    for response in [other, both] {
      let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(response))]]
      let verdict = fixture.verify(try fixture.encrypt(fixture.parameters(token)))
      #expect(verdict.codes.first == .documentUnexpected)
    }
  }

  @Test func bytesThatAreNoDeviceResponseGiveTheirCode() throws {
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe([0xa0]))]]
    #expect(fixture.verify(try fixture.encrypt(fixture.parameters(token))).codes == [.responseMalformed])
    let cut: JSON = ["document_0": [.string(Base64.encodeURLSafe([0xa1]))]]
    #expect(fixture.verify(try fixture.encrypt(fixture.parameters(cut))).codes == [.cborTruncated])
  }

  // MARK: Devices and wallets

  @Test func withoutEncryptionThereIsNoKeyForAMAC() throws {
    let transcript = fixture.challenge(isEncrypted: false).transcript
    let response = try fixture.deviceResponse(
      over: transcript, authentication: .mac(readerKey: fixture.key.publicKey))
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(response))]]
    #expect(fixture.verify(fixture.parameters(token), isEncrypted: false).codes == [.deviceMacNotAllowed])
  }

  @Test func aMACByAnotherReaderKeyIsInvalid() throws {
    let other = try PrivateKey(generatingOn: .p256)
    let response = try fixture.deviceResponse(
      over: fixture.challenge().transcript, authentication: .mac(readerKey: other.publicKey))
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(response))]]
    #expect(fixture.verify(try fixture.encrypt(fixture.parameters(token))).codes == [.deviceMacInvalid])
  }

  @Test func anErrorThatCameEncryptedIsTheWalletsWord() throws {
    let words = "No\u{202e}pe\n" + String(repeating: "é", count: Limits.errorDescriptionBytes)
    let verdict = fixture.verify(
      try fixture.encrypt(["error": "access_denied", "error_description": .string(words)]))
    #expect(verdict.codes == [.walletAccessDenied])
    let shown = try #require(verdict.walletDescription)
    #expect(shown.hasPrefix("No\u{fffd}pe\u{fffd}é") && shown.utf8.count <= Limits.errorDescriptionBytes)
    #expect(!"\(verdict.report)".contains("pe\u{fffd}"))
  }

  @Test(arguments: [nil, "another", OpenID4VPFixture.state])
  func anErrorThatIsPostedNeedsTheState(state: String?) throws {
    let response = try fixture.encrypt(.members(["error": "access_denied", "state": state.map(JSON.string)]))
    let expected: Code = state == OpenID4VPFixture.state ? .walletAccessDenied : .stateMismatch
    #expect(fixture.verify(response, as: OpenID4VPFixture.server).codes == [expected])
  }

  // MARK: Response modes

  @Test(arguments: [OpenID4VPFixture.page, OpenID4VPFixture.server])
  func aJWTWhereClearParametersWereAskedForIsRefused(recipient: OpenID4VPRecipient) throws {
    let parameters = fixture.parameters(try fixture.token(recipient), state: OpenID4VPFixture.state)
    let payload = Base64.encodeURLSafe(parameters.serialized())
    for (response, detail) in [
      (try fixture.encrypt(parameters), "an encrypted JWT"),
      (["response": .string("eyJhbGciOiJub25lIn0.\(payload).")], "an unsecured JWT"),
      (["response": .string("eyJhbGciOiJFUzI1NiJ9.\(payload).AA")], "a signed JWT"), (["response": "x"], nil),
    ] as [(JSON, String?)] {
      let verdict = fixture.verify(response, as: recipient, isEncrypted: false)
      #expect(verdict.codes == [.responseModeMismatch])
      #expect(verdict.report.checks.first { $0.code == .responseModeMismatch }?.detail == detail)
    }
  }

  /// Signed or not, a JWT is no encryption.
  @Test(arguments: [("", "an unsecured JWT"), ("AA", "a signed JWT")])
  func aJWTWhereAnEncryptedOneWasAskedForIsInClear(signature: String, detail: String) throws {
    let payload = Base64.encodeURLSafe(fixture.parameters(try fixture.token()).serialized())
    let verdict = fixture.verify(["response": .string("eyJhbGciOiJub25lIn0.\(payload).\(signature)")])
    #expect(verdict.codes == [.envelopeNotEncrypted])
    #expect(verdict.report.checks.first { $0.code == .envelopeNotEncrypted }?.detail == detail)
  }

  // MARK: Compression

  @Test func aCompressedPlaintextIsInflated() throws {
    let parameters = fixture.parameters(try fixture.token()).serialized()
    let verdict = fixture.verify(try compressed(parameters))
    #expect(verdict.codes == [])
    #expect(verdict.report.checks.contains(Check(.jwePlaintextTooLarge, .passed)))
  }

  @Test func aBombIsRefusedByItsOwnCode() throws {
    let spaces = [UInt8](repeating: UInt8(ascii: " "), count: Limits.jwePlaintextBytes)
    let parameters = fixture.parameters(try fixture.token()).serialized()
    let verdict = fixture.verify(try compressed(parameters + spaces))
    #expect(verdict.codes == [.jwePlaintextTooLarge])
    // It opened, and nothing of it was read.
    #expect(verdict.report.checks.contains(Check(.envelopeDecryptionFailed, .passed)))
    #expect(verdict.report.checks.contains(Check(.envelopePlaintextMalformed, .notRun)))
  }

  private func compressed(_ plaintext: [UInt8]) throws -> JSON {
    try fixture.encrypt(bytes: Array(Deflation.deflate(plaintext).dropFirst(2).dropLast(4))) { $0["zip"] = "DEF" }
  }
}
