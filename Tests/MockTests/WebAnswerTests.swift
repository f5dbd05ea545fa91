import Base
import CBOR
import Cryptography
import Testing

@testable import Mock

@Suite struct WebAnswerTests {
  @Test(arguments: WebFixture.Way.all) func `the same request gives the same answer, another nonce another`(
    _ way: WebFixture.Way
  ) throws {
    var fixture = try WebFixture()
    let answer = try fixture.answer(way)
    #expect(try fixture.answer(way).data == answer.data)
    fixture.session.nonce[0] ^= 1
    #expect(try fixture.answer(way).data != answer.data)
  }

  @Test func `an Annex C answer opens under its transcript`() throws {
    let fixture = try WebFixture()
    let answer = try fixture.answer(.init(protocolName: "org-iso-mdoc"))
    let text = try #require(answer.data["response"]?.string)
    let item = try CBORItem(parsing: try #require(Base64.decodeURLSafe(text)))
    let elements = try #require(item.elements.map(Array.init))
    #expect(elements.count == 2 && elements[0].isText("dcapi"))
    let plaintext = try HPKE.p256SHA256AES128GCM.open(
      Array(try #require(elements[1][key: "cipherText"]?.bytes)),
      encapsulatedKey: try #require(elements[1][key: "enc"]?.bytes), recipient: fixture.session.encryptionKey,
      info: answer.sessionTranscript)
    #expect([plaintext] == answer.deviceResponses)
    #expect(
      answer.sessionTranscript
        == MockSessionTranscript.digitalCredentialsAPI(
          encryptionInfo: fixture.session.encryptionInfo, origin: fixture.session.origin))
  }

  @Test func `clear answers are vp_token by query, in a form as text with the state`() throws {
    let fixture = try WebFixture()
    let page = try fixture.answer(.init(protocolName: "openid4vp-v1-unsigned", isEncrypted: false))
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(page.deviceResponses[0]))]]
    #expect(page.data == ["vp_token": token])
    let posted = try fixture.answer(.init(protocolName: "openid4vp", isEncrypted: false))
    #expect(posted.data["state"]?.string == "state-0123456789")
    let text = try #require(posted.data["vp_token"]?.string)
    #expect(
      try JSON(parsing: Array(text.utf8))
        == ["document_0": [.string(Base64.encodeURLSafe(posted.deviceResponses[0]))]])
  }

  @Test func `of any documents the first that is held is returned, of all each`() throws {
    let fixture = try WebFixture()
    let way = WebFixture.Way(protocolName: "openid4vp-v1-unsigned", isEncrypted: false)
    func names(_ answer: MockWebResponse) -> [String]? { answer.data["vp_token"]?.object?.map(\.name) }
    #expect(names(try fixture.answer(way, .good, .anyOf)) == ["document_0"])
    #expect(names(try fixture.answer(way, .good, .anyOf, held: [MockPerson.photoID])) == ["document_1"])
    #expect(names(try fixture.answer(way, .good, .anyOf, requiresAll: true)) == ["document_0", "document_1"])
    #expect(throws: MockError.noRequestedDocument([MockDocType.mDL])) { try fixture.answer(way, held: []) }
  }

  @Test func `of any documents an Annex C answer has one, of all each`() throws {
    let fixture = try WebFixture()
    let way = WebFixture.Way(protocolName: "org-iso-mdoc")
    func count(_ answer: MockWebResponse) throws -> Int? {
      try CBORItem(parsing: answer.deviceResponses[0])[key: "documents"]?.count
    }
    #expect(try count(fixture.answer(way, .good, .anyOf)) == 1)
    #expect(try count(fixture.answer(way, .good, .anyOf, requiresAll: true)) == 2)
  }

  @Test func `a MAC needs an encryption key on the device key's curve`() throws {
    let encrypted = WebFixture.Way(protocolName: "openid4vp-v1-signed")
    let answer = try WebFixture().answer(encrypted, authentication: .mac)
    let document = try #require(try CBORItem(parsing: answer.deviceResponses[0]).document(0))
    let authentication = document[key: "deviceSigned"]?[key: "deviceAuth"]
    #expect(authentication?[key: "deviceMac"] != nil && authentication?[key: "deviceSignature"] == nil)
    #expect(throws: MockError.self) {
      try WebFixture().answer(.init(protocolName: "openid4vp", isEncrypted: false), authentication: .mac)
    }
    #expect(throws: MockError.self) { try WebFixture(deviceCurve: .p384).answer(encrypted, authentication: .mac) }
  }

  @Test func `requests that are none are refused`() throws {
    let fixture = try WebFixture()
    for (name, data) in [
      ("org-iso-mdoc", ["deviceRequest": "oA", "encryptionInfo": "oA"]), ("org-iso-mdoc", [:]),
      ("openid4vp-v1-unsigned", ["nonce": "n"]), ("openid4vp-v1-signed", ["request": "a.b"]),
      ("openid4vp-v1-multisigned", ["request": "a.b.c"]), ("openid4vp-v2", [:]),
    ] as [(String, JSON)] {
      #expect(throws: MockError.self, "\(name)") {
        try fixture.fixture.wallet.answer(
          digitalCredential: name, data: data, origin: "https://shop.example", at: fixture.fixture.now)
      }
    }
  }
}

/// The transcripts that OpenID4VP 1.0, B.2.6 and the EU age-verification profile print, and draft 18's.
@Suite struct WebTranscriptTests {
  private let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  private let thumbprint = Hex.decode("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047")

  @Test func `the printed handover of a redirect`() {
    let transcript = MockSessionTranscript.openID4VP(
      clientID: "x509_san_dns:example.com", nonce: nonce, thumbprint: thumbprint,
      responseURI: "https://example.com/response")
    #expect(
      Hex.encode(transcript)
        == "83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac"
    )
  }

  @Test func `the printed handover of the Digital Credentials API`() {
    let transcript = MockSessionTranscript.openID4VP(
      origin: "https://example.com", nonce: nonce, thumbprint: thumbprint)
    #expect(
      Hex.encode(transcript) == "83f6f682764f70656e4944345650444341504948616e646f7665725820"
        + "fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a")
  }

  @Test func `without encryption the thumbprint is null`() {
    let transcript = MockSessionTranscript.openID4VP(origin: "https://example.com", nonce: nonce, thumbprint: nil)
    #expect(
      Hex.encode(transcript.suffix(32)) == "3563b629e28bf0a736c6ba6faacb60a9cd3074e51416a04565031d8690638c43")
  }

  /// RFC 7638 over the key that the specification prints: the wallet makes the thumbprint from the request alone.
  @Test func `the wallet's transcript has the thumbprint of the request's key`() throws {
    let fixture = try WebFixture()
    let point = try #require(fixture.session.encryptionKey.publicKey.coordinates)
    let canonical =
      #"{"crv":"P-256","kty":"EC","x":"\#(Base64.encodeURLSafe(point.x))","y":"\#(Base64.encodeURLSafe(point.y))"}"#
    let thumbprint = HashAlgorithm.sha256.hash(Array(canonical.utf8))
    #expect(
      try fixture.answer(.init(protocolName: "openid4vp-v1-multisigned")).sessionTranscript
        == MockSessionTranscript.openID4VP(
          origin: fixture.session.origin, nonce: fixture.session.nonceText, thumbprint: thumbprint))
    #expect(
      try fixture.answer(.init(protocolName: "openid4vp")).sessionTranscript
        == MockSessionTranscript.openID4VP(
          clientID: "x509_san_dns:shop.example", nonce: fixture.session.nonceText, thumbprint: thumbprint,
          responseURI: fixture.session.responseURI))
  }
}

/// The published examples' handovers, made by the wallet's own parts.
extension MockSessionTranscript {
  /// OpenID4VP 1.0 over the Digital Credentials API (B.2.6.2).
  ///
  /// - Parameter thumbprint: that of the verifier's key to which the response is encrypted; nil if it is not encrypted.
  fileprivate static func openID4VP(origin: String, nonce: String, thumbprint: [UInt8]?) -> [UInt8] {
    hashed("OpenID4VPDCAPIHandover", [.text(origin), .text(nonce), thumbprint.map { .bytes($0) } ?? .null])
  }

  /// OpenID4VP 1.0 by redirect or QR code (B.2.6.1).
  fileprivate static func openID4VP(
    clientID: String, nonce: String, thumbprint: [UInt8]?, responseURI: String
  ) -> [UInt8] {
    hashed(
      "OpenID4VPHandover",
      [.text(clientID), .text(nonce), thumbprint.map { .bytes($0) } ?? .null, .text(responseURI)])
  }
}

/// The mock wallet's response to choices in the form of other verifiers' requests.
@Suite struct ChoiceTests {
  private let now = Timestamp(secondsSince1970: 1_795_168_800)
  private let wallet: MockWallet

  init() throws {
    var licence = try #require(MockPerson.documents.first { $0.docType == MockDocType.mDL })
    licence[MockNamespace.mDL, "family_name"] = nil
    wallet = MockWallet(
      authority: try MockAuthority(seed: [7]), documents: [licence, MockPerson.photoID])
  }

  private func chosen(_ asked: RequestedDocuments) throws -> [String: String] {
    let queries = try asked.chosen(by: wallet, at: now)
    return Dictionary(
      uniqueKeysWithValues: queries.map {
        ($0.document.docType, $0.document.elements.map(\.identifier).joined(separator: " "))
      })
  }

  /// A DeviceRequest for a licence and, where there are sets of documents, a photo ID.
  private func ask(
    _ names: [String], substitutes: [String: [[String]]] = [:], useCases: CBORValue? = nil
  ) throws -> RequestedDocuments {
    func path(_ name: String) -> CBORValue { [.text(MockNamespace.mDL), .text(name)] }
    let entries = substitutes.map { name, sets -> CBORValue in
      ["requestedElement": path(name), "alternativeElementSets": .array(sets.map { .array($0.map(path)) })]
    }
    let items: CBORValue = [
      "docType": .text(MockDocType.mDL),
      "nameSpaces": .map([(key: .text(MockNamespace.mDL), value: .map(names.map { (key: .text($0), value: false) }))]),
      "requestInfo": ["alternativeDataElements": .array(entries)],
    ]
    let photoID: CBORValue = [
      "docType": .text(MockDocType.photoID), "nameSpaces": [.text(MockNamespace.photoID): ["portrait": false]],
    ]
    var request: [(key: CBORValue, value: CBORValue)] = [
      (key: "version", value: "1.1"),
      (
        key: "docRequests",
        value: .array(([items] + (useCases == nil ? [] : [photoID])).map { ["itemsRequest": .embedded($0)] })
      ),
    ]
    if let useCases { request.append((key: "deviceRequestInfo", value: .embedded(["useCases": useCases]))) }
    return try RequestedDocuments(deviceRequest: Base64.encodeURLSafe(CBORValue.map(request).encoded()))
  }

  @Test func `of an element that is lacking the first set that is there comes`() throws {
    let sets = [["family_name_latin1"], ["given_name", "age_over_19"], ["sex"]]
    let asked = try ask(["family_name", "portrait", "given_name"], substitutes: ["family_name": sets])
    #expect(try chosen(asked) == [MockDocType.mDL: "given_name age_over_19 portrait"])
    // Without one, it returns the elements that it has, and the verifier rejects them.
    #expect(try chosen(ask(["family_name", "portrait"])) == [MockDocType.mDL: "family_name portrait"])
  }

  @Test func `one set of each mandatory use case is answered, the first that is there in full`() throws {
    let either: CBORValue = [
      ["mandatory": false, "documentSets": [[7]]], ["mandatory": true, "documentSets": [[0], [1]]],
    ]
    #expect(try chosen(ask(["family_name"], useCases: either)) == [MockDocType.photoID: "portrait"])
    #expect(try chosen(ask(["sex"], useCases: either)) == [MockDocType.mDL: "sex"])
    let both: CBORValue = [
      ["mandatory": true, "documentSets": [[0]]], ["mandatory": true, "documentSets": [[1]]],
    ]
    #expect(try chosen(ask(["sex"], useCases: both)).count == 2)
  }

  @Test func `of claim sets the first that is there in full is answered`() throws {
    func asked(_ sets: JSON) throws -> [String: String] {
      let claims = ["family_name", "sex", "age_over_19"].map { name -> JSON in
        ["id": .string(name), "path": [.string(MockNamespace.mDL), .string(name)]]
      }
      return try chosen(
        RequestedDocuments(dcql: [
          "credentials": [
            [
              "id": "a", "format": "mso_mdoc", "meta": ["doctype_value": .string(MockDocType.mDL)],
              "claims": .array(claims), "claim_sets": sets,
            ]
          ], "credential_sets": [["options": [["b"]], "required": false]],
        ]))
    }
    #expect(
      try asked([["family_name", "sex"], ["age_over_19", "sex"], ["sex"]]) == [MockDocType.mDL: "age_over_19 sex"])
    #expect(try asked([["family_name"]]) == [MockDocType.mDL: "family_name sex age_over_19"])
  }
}
