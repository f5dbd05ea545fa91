import Base
import CBOR
import Cryptography

extension MockWallet {
  /// The answer to a request of the Digital Credentials API: `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C) or one of
  /// OpenID4VP's protocols. It is encrypted if the request says so.
  ///
  /// If any one of several documents will do, the first that the wallet has is returned; else all that it has.
  ///
  /// - Parameters:
  ///   - data: `data` of the entry in `requests`, as the page passes it on.
  ///   - request: what the person agrees to; documents that it lacks are withheld. Nil for all that is requested.
  /// - Throws: `MockError` if the request cannot be read, or the wallet has none of the documents.
  package func answer(
    digitalCredential protocolName: String, data: JSON, origin: String, request: MockRequest? = nil,
    authentication: MockWebAuthentication = .signature, variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWebAnswer {
    guard protocolName != MockProtocol.annexC else {
      return try answerAnnexC(data, origin: origin, request: request, variant: variant, at: now)
    }
    let parsed = try OpenID4VPRequest(protocolName: protocolName, data: data, origin: origin)
    return try answer(parsed, request: request, authentication: authentication, variant: variant, at: now)
  }

  /// The answer to a request object (RFC 9101), which is posted to its `response_uri`. The protocol is OpenID4VP 1.0,
  /// or its older profile in ISO/IEC TS 18013-7, Annex B, if the object has a presentation definition.
  package func answer(
    requestObject: [UInt8], request: MockRequest? = nil, authentication: MockWebAuthentication = .signature,
    variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWebAnswer {
    let parsed = try OpenID4VPRequest(requestObject: requestObject)
    return try answer(parsed, request: request, authentication: authentication, variant: variant, at: now)
  }

  private func answerAnnexC(
    _ data: JSON, origin: String, request: MockRequest?, variant: MockVariant, at now: Timestamp
  ) throws -> MockWebAnswer {
    guard let encryptionInfo = data["encryptionInfo"]?.string, let deviceRequest = data["deviceRequest"]?.string else {
      throw MockError.unreadableRequest("there is no deviceRequest or no encryptionInfo")
    }
    let asked = try AskedDocuments(deviceRequest: deviceRequest).restricted(to: request)
    let expected = try AnnexCDraft(encryptionInfo: encryptionInfo, origin: origin)
    let chosen = try asked.chosen(by: self, at: now)
    let documents = MockRequest(documents: chosen.map(\.document))
    return try variant.applied(over: MockProtocol.annexC, hasProofs: proves(documents), seen: \.data) { mutation in
      var session = expected
      try mutation.annexC?(&session)
      let seed = try answerSeed(session.transcript)
      let response = try deviceResponse(
        documents, of: asked.request, transcript: session.transcript, authentication: .signature, mutation: mutation,
        documentLimit: chosen.count, seed: seed, at: now)
      let message = session.wrap(response)
      // Each message has a key of its own: two variants of one session must not share a GCM key and nonce.
      let ephemeral = try seed.child("hpke", context: message).key("ephemeral", on: .p256)
      var sealed = try session.seal(message, ephemeralKey: ephemeral, seed: seed)
      try mutation.encryptedResponse?(&sealed)
      var bytes = sealed.value.encoded()
      try mutation.encryptedResponseBytes?(&bytes)
      var web = WebDataDraft(members: [.init("response", .string(Base64.encodeURLSafe(bytes)))], clear: [])
      try mutation.webData?(&web)
      return MockWebAnswer(
        data: .object(web.members), deviceResponses: [response], sessionTranscript: expected.transcript,
        variant: variant)
    }
  }

  var docTypes: Set<String> { Set(documents.map(\.docType)) }
}

/// A wallet's answer to a web protocol's request, and what it answers.
package struct MockWebAnswer: Sendable {
  /// `data` of the DigitalCredential. If the wallet posts its answer, the form's fields instead, all of them strings.
  package let data: JSON
  /// The DeviceResponses before encryption: one, or one for each query that is answered.
  package let deviceResponses: [[UInt8]]
  /// The transcript that the verifier has to build, even if the variant made the wallet use another.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// How the device proves, over a web protocol, that it holds its key.
package enum MockWebAuthentication: String, Sendable, CaseIterable {
  case signature
  /// A MAC with the verifier's encryption key as the reader key (OpenID4VP 1.0, B.2.5). It needs a request for an
  /// encrypted answer.
  case mac
}

/// The answer for the page or the response endpoint, which a variant may still change.
struct WebDataDraft: Sendable {
  var members: [JSON.Member]
  /// The same answer unencrypted.
  let clear: [JSON.Member]

  subscript(name: String) -> JSON? {
    get { members.first { $0.name == name }?.value }
    set { members.set(name, to: newValue) }
  }
}

/// What a wallet puts into the transcript of `org-iso-mdoc`, and the key that it encrypts to (ISO/IEC TS 18013-7, Annex
/// C).
struct AnnexCDraft: Sendable {
  /// The base64url text of EncryptionInfo, as it was sent.
  var encryptionInfo: String
  var origin: String
  var recipientKey: PublicKey
  /// The HPKE `info`; nil for the transcript over which the device signs.
  var otherInfo: [UInt8]?
  /// Changes the DeviceResponse before it is encrypted.
  var wrap: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  init(encryptionInfo text: String, origin: String) throws {
    // ["dcapi", {"nonce": …, "recipientPublicKey": COSE_Key}]
    guard let bytes = Base64.decodeURLSafe(text), let item = try? CBORItem(parsing: bytes),
      let elements = item.elements.map(Array.init), elements.count == 2, elements[0].isText("dcapi"),
      let key = elements[1][key: "recipientPublicKey"], key[label: -1]?.integer == 1, let x = key[label: -2]?.bytes,
      let y = key[label: -3]?.bytes, let recipient = try? PublicKey(curve: .p256, x: x, y: y)
    else { throw MockError.unreadableRequest("encryptionInfo is no EncryptionInfo with a P-256 key") }
    encryptionInfo = text
    self.origin = origin
    recipientKey = recipient
  }

  var transcript: [UInt8] {
    MockSessionTranscript.digitalCredentialsAPI(encryptionInfo: encryptionInfo, origin: origin)
  }

  func seal(_ plaintext: [UInt8], ephemeralKey: PrivateKey, seed: MockSeed) throws -> EncryptedResponseDraft {
    let sealed = try HPKE.p256SHA256AES128GCM.seal(
      plaintext, to: recipientKey, info: otherInfo ?? transcript, ephemeralKey: ephemeralKey)
    return EncryptedResponseDraft(
      seed: seed,
      fields: MapDraft([("enc", .bytes(sealed.encapsulatedKey)), ("cipherText", .bytes(sealed.ciphertext))]))
  }
}

/// `["dcapi", {"enc": …, "cipherText": …}]`, which a variant may still change.
struct EncryptedResponseDraft: Sendable {
  /// The answer's own seed.
  let seed: MockSeed
  var name: CBORValue = "dcapi"
  var fields: MapDraft
  /// Elements after the first two.
  var further: [CBORValue] = []

  var value: CBORValue { .array([name, fields.value] + further) }
}
