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

  /// Under our key's name, but encrypted to another key, such as another session's.
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

  /// The transcript binds the session, so a response without the state is verified.
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

  @Test func `what is wrong with a token is said with its member`() throws {
    let good = try fixture.token()
    let text = try #require(good["document_0"]?.array?.first?.string)
    let expected: [(JSON?, String)] = [
      (nil, "vp_token is missing"), ("eyJ.eyJ.AA", "vp_token is a signed JWT, not an object by query id"),
      ([.string(text)], "vp_token is an array, not an object by query id"),
      (.string(text), "vp_token is base64 text, not an object by query id"),
      (["document_0": .string(text)], "vp_token.document_0 is not an array"),
      (["document_0": []], "vp_token.document_0 has 0 presentations, not 1"),
      (["document_0": [1]], "vp_token.document_0[0] is not a string"),
      (["document_0": [""]], "vp_token.document_0[0] is empty, not a DeviceResponse in base64url without padding"),
      (
        ["document_0": [.string(text + "=")]],
        "vp_token.document_0[0] is base64 text, not a DeviceResponse in base64url without padding"
      ),
      (
        ["document_0": ["eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AA~"]],
        "vp_token.document_0[0] is an SD-JWT, not a DeviceResponse in base64url without padding"
      ),
      (
        ["document_0": [.string(text)], "mdl": [.string(text)]],
        "vp_token has \"mdl\", which is not a query id: document_0, document_1"
      ),
    ]
    for (token, detail) in expected {
      let verdict = fixture.verify(try fixture.encrypt(.members(["vp_token": token])))
      #expect(verdict.codes == [.vpTokenMalformed])
      #expect(verdict.detail(of: .vpTokenMalformed) == detail)
    }
    let none = fixture.verify(try fixture.encrypt(["vp_token": [:]]))
    #expect(
      none.detail(of: .vpTokenIncomplete)
        == "vp_token has 0 of 1 presentations; there is none for document_0, document_1")
  }

  @Test func `a form's token that is no JSON is named by its form`() throws {
    let recipient = OpenID4VPFixture.server
    let bytes = try fixture.deviceResponse(over: fixture.challenge(recipient, isEncrypted: false).transcript)
    for (text, name) in [(Base64.encodeURLSafe(bytes), "base64 text"), (Hex.encode(bytes), "hexadecimal text")] {
      let verdict = fixture.verify(
        fixture.parameters(.string(text), state: OpenID4VPFixture.state), as: recipient, isEncrypted: false)
      #expect(verdict.codes == [.vpTokenMalformed])
      #expect(verdict.detail(of: .vpTokenMalformed) == "vp_token is \(name), not an object by query id")
    }
  }

  // MARK: Findings about an envelope

  @Test(
    arguments: [
      (["response": 1], .envelopeMalformed, "response is not a string"),
      (["state": "x"], .envelopeMalformed, "response is missing"),
      (["response": "a1b2c3"], .envelopeMalformed, "this is hexadecimal text, not an encrypted JWT"),
      (["response": "{\"vp_token\":{}}"], .envelopeMalformed, "this is JSON text, not an encrypted JWT"),
      (["response": "a.b"], .envelopeMalformed, "the JWE has 2 parts, not 5"),
      (["vp_token": [:]], .envelopeNotEncrypted, "vp_token is unencrypted; the request asked for a JWE in response"),
    ] as [(JSON, Code, String)])
  func `what is no JWE is named`(response: JSON, code: Code, detail: String) {
    let verdict = fixture.verify(response)
    #expect(verdict.codes == [code])
    #expect(verdict.detail(of: code) == detail)
  }

  @Test func `a key's name is shown as it came, and the one that was asked for`() throws {
    let ours = Base64.encodeURLSafe(thumbprint(of: fixture.key.publicKey))
    let parameters = fixture.parameters(try fixture.token())
    for (kid, found) in [("another", "\"another\""), (nil, "missing")] as [(JSON?, String)] {
      let verdict = fixture.verify(try fixture.encrypt(parameters) { $0["kid"] = kid })
      #expect(verdict.detail(of: .jweKeyUnknown) == "kid is \(found); the request's key is \"\(ours)\"")
    }
  }

  @Test(
    arguments: [
      ("[]", "the plaintext is JSON, but not an object"), ("{", "the plaintext is not JSON"),
      ("eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AA", "this is a signed JWT, not a JSON object"),
      ("eyJhbGciOiJFQ0RILUVTIn0..AA.AA.AA", "this is an encrypted JWT, not a JSON object"),
    ])
  func `what a JWE holds in place of parameters is named`(text: String, detail: String) throws {
    let verdict = fixture.verify(try fixture.encrypt(bytes: Array(text.utf8)))
    #expect(verdict.codes == [.envelopePlaintextMalformed])
    #expect(verdict.detail(of: .envelopePlaintextMalformed) == detail)
  }

  @Test func `the clauses of a JWE are not those of Apple's envelope`() throws {
    let verdict = fixture.verify(["response": "a.b"])
    #expect(verdict.report.checks.first { $0.code == .envelopeMalformed }?.clause == "RFC 7516, 7.1")
    #expect(verdict.report.reasons.map(\.clause) == ["RFC 7516, 7.1"])
    #expect(!verdict.report.checks.contains { $0.clause.contains("Apple") })
  }

  @Test func `where a state is wrong, or beside the JWE, is said`() throws {
    let recipient = OpenID4VPFixture.server
    func verdict(_ inner: JSON, outer: JSON?) throws -> Verdict {
      let jwe = try fixture.encrypt(inner)
      return fixture.verify(.members(["response": jwe["response"], "state": outer]), as: recipient)
    }
    let token = try fixture.token(recipient)
    let missing = try verdict(["vp_token": token], outer: nil)
    #expect(missing.codes == [] && missing.detail(of: .stateMissing) == "state is missing")
    let beside = try verdict(["vp_token": token], outer: .string(OpenID4VPFixture.state))
    #expect(beside.codes == [] && beside.detail(of: .stateMissing) == "state is beside the JWE, not in it")
    let error = try verdict(["error": "access_denied"], outer: .string(OpenID4VPFixture.state))
    #expect(error.codes == [.stateMismatch])
    #expect(
      error.detail(of: .stateMismatch) == "state is beside the JWE, not in it; an error must have the request's")
    for (state, words) in [("other", "state differs from the request's"), (1, "state is not a string")]
      as [(JSON, String)]
    {
      let wrong = try verdict(["vp_token": token, "state": state], outer: nil)
      #expect(wrong.codes == [.stateMismatch] && wrong.detail(of: .stateMismatch) == words)
    }
    let declined = try verdict(["error": "access_denied", "state": .string(OpenID4VPFixture.state)], outer: nil)
    #expect(declined.detail(of: .walletAccessDenied) == "error is access_denied")
    let personal = try verdict(["error": "Ada Lovelace", "state": .string(OpenID4VPFixture.state)], outer: nil)
    #expect(personal.detail(of: .walletOtherError) == "error is not one of the standard's")
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

  /// D16: a response to one query holds one document, of the requested type.
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
      (["response": .string("eyJhbGciOiJFUzI1NiJ9.\(payload).AA")], "a signed JWT"), (["response": "x"], "there"),
    ] as [(JSON, String)] {
      let verdict = fixture.verify(response, as: recipient, isEncrypted: false)
      #expect(verdict.codes == [.responseModeMismatch])
      #expect(
        verdict.detail(of: .responseModeMismatch)
          == "response is \(detail); the request asked for an unencrypted vp_token")
    }
  }

  /// Signed or not, a JWT is not encrypted.
  @Test(arguments: [("", "an unsecured JWT"), ("AA", "a signed JWT")])
  func aJWTWhereAnEncryptedOneWasAskedForIsInClear(signature: String, detail: String) throws {
    let payload = Base64.encodeURLSafe(fixture.parameters(try fixture.token()).serialized())
    let verdict = fixture.verify(["response": .string("eyJhbGciOiJub25lIn0.\(payload).\(signature)")])
    #expect(verdict.codes == [.envelopeNotEncrypted])
    #expect(verdict.detail(of: .envelopeNotEncrypted) == "response is \(detail), not an encrypted response (JWE)")
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
    // It opened, but nothing in it was read.
    func outcome(of code: Code) -> Check.Outcome? { verdict.report.checks.first { $0.code == code }?.outcome }
    #expect(outcome(of: .envelopeDecryptionFailed) == .passed)
    #expect(outcome(of: .envelopePlaintextMalformed) == .notRun)
  }

  private func compressed(_ plaintext: [UInt8]) throws -> JSON {
    try fixture.encrypt(bytes: Array(Deflation.deflate(plaintext).dropFirst(2).dropLast(4))) { $0["zip"] = "DEF" }
  }
}
