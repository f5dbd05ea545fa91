import Base
import CBOR
import Cryptography

extension MockWallet {
  /// The response to a request of the Digital Credentials API: `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C) or one of
  /// OpenID4VP's protocols. If one document is enough, the response contains only the wallet's first document.
  /// Otherwise it contains all requested documents.
  ///
  /// - Parameters:
  ///   - data: `data` of the entry in `requests`.
  ///   - request: the documents and elements that the person agrees to disclose; nil for all.
  /// - Throws: `MockError` if the request cannot be read, or the wallet has none of the documents.
  package func answer(
    digitalCredential protocolName: String, data: JSON, origin: String, request: MockRequest? = nil,
    authentication: MockWebAuthentication = .signature, variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWebResponse {
    guard protocolName != MockProtocol.annexC else {
      return try respondByAnnexC(data, origin: origin, request: request, variant: variant, at: now)
    }
    let parsed = try OpenID4VPRequest(protocolName: protocolName, data: data, origin: origin)
    return try answer(parsed, request: request, authentication: authentication, variant: variant, at: now)
  }

  /// The response to a request object (RFC 9101), for its `response_uri`. If the object has a presentation definition,
  /// the protocol is ISO/IEC TS 18013-7, Annex B. Otherwise it is OpenID4VP 1.0.
  package func answer(
    requestObject: [UInt8], request: MockRequest? = nil, authentication: MockWebAuthentication = .signature,
    variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWebResponse {
    let parsed = try OpenID4VPRequest(requestObject: requestObject)
    return try answer(parsed, request: request, authentication: authentication, variant: variant, at: now)
  }

  /// The response to the parameters of an OpenID4VP request.
  ///
  /// - Parameter origin: the page's origin over the Digital Credentials API; nil for a request by link.
  package func answer(
    parameters: JSON, origin: String? = nil, request: MockRequest? = nil,
    authentication: MockWebAuthentication = .signature, variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWebResponse {
    let parsed = try OpenID4VPRequest(parameters: parameters, origin: origin)
    return try answer(parsed, request: request, authentication: authentication, variant: variant, at: now)
  }

  private func respondByAnnexC(
    _ data: JSON, origin: String, request: MockRequest?, variant: MockVariant, at now: Timestamp
  ) throws -> MockWebResponse {
    guard let encryptionInfo = data["encryptionInfo"]?.string, let deviceRequest = data["deviceRequest"]?.string else {
      throw MockError.unreadableRequest("deviceRequest or encryptionInfo is missing")
    }
    let requested = try RequestedDocuments(deviceRequest: deviceRequest).restricted(to: request)
    let expected = try AnnexCDraft(encryptionInfo: encryptionInfo, origin: origin)
    let chosen = try requested.chosen(by: self, at: now)
    let documents = MockRequest(documents: chosen.map(\.document))
    return try variant.applied(over: MockProtocol.annexC, hasProofs: proves(documents), seen: \.data) { mutation in
      var session = expected
      try mutation.apply(Stages.annexC, to: &session)
      let seed = try responseSeed(session.transcript)
      let response = try deviceResponse(
        documents, of: requested.request, transcript: session.transcript, authentication: .signature,
        mutation: mutation,
        documentLimit: chosen.count, seed: seed, at: now)
      var message = response
      try mutation.apply(Stages.annexCPlaintext, to: &message)
      // Each message has its own key: two variants of one session must not share a GCM key and nonce.
      let ephemeral = try seed.child("hpke", context: message).key("ephemeral", on: .p256)
      var sealed = try session.seal(message, ephemeralKey: ephemeral, seed: seed)
      try mutation.apply(Stages.encryptedResponse, to: &sealed)
      var bytes = sealed.value.encoded()
      try mutation.apply(Stages.encryptedResponseBytes, to: &bytes)
      var web = WebDataDraft(members: [.init("response", .string(Base64.encodeURLSafe(bytes)))], clear: [])
      try mutation.apply(Stages.webData, to: &web)
      return MockWebResponse(
        data: .object(web.members), deviceResponses: [response], sessionTranscript: expected.transcript,
        variant: variant)
    }
  }
}

extension MockRequest {
  /// The documents that the parameters of an OpenID4VP request ask for.
  package init(parameters: JSON) throws {
    self =
      try parameters["presentation_definition"].map { try RequestedDocuments(presentationDefinition: $0).request }
      ?? RequestedDocuments(dcql: parameters["dcql_query"] ?? .null).request
  }

  /// The documents that a DeviceRequest in base64url asks for.
  package init(deviceRequest: String) throws {
    self = try RequestedDocuments(deviceRequest: deviceRequest).request
  }
}

/// A wallet's response to a web protocol's request.
package struct MockWebResponse: Sendable {
  /// `data` of the DigitalCredential, or the fields of a posted form. Form fields are all strings.
  package let data: JSON
  /// The DeviceResponses before encryption: one, or one for each query.
  package let deviceResponses: [[UInt8]]
  /// The verifier's transcript, even if the variant uses another transcript.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// The device's proof of possession of its key, over a web protocol.
package enum MockWebAuthentication: String, Sendable, CaseIterable {
  case signature
  /// A MAC with the verifier's encryption key as the reader key (OpenID4VP 1.0, B.2.5).
  case mac
}

/// The response for the page or the response endpoint.
struct WebDataDraft: Sendable {
  var members: [JSON.Member]
  /// The response before encryption.
  let clear: [JSON.Member]
}

/// The wallet's part of an `org-iso-mdoc` session (ISO/IEC TS 18013-7, Annex C).
struct AnnexCDraft: Sendable {
  /// The base64url text of EncryptionInfo.
  var encryptionInfo: String
  var origin: String
  var recipientKey: PublicKey
  /// The HPKE `info`; nil for the transcript.
  var otherInfo: [UInt8]?

  init(encryptionInfo text: String, origin: String) throws {
    // ["dcapi", {"nonce": …, "recipientPublicKey": COSE_Key}]
    guard let bytes = Base64.decodeURLSafe(text), let item = try? CBORItem(parsing: bytes),
      let elements = item.elements.map(Array.init), elements.count == 2, elements[0].isText("dcapi"),
      let key = elements[1][key: "recipientPublicKey"], key[label: -1]?.integer == 1, let x = key[label: -2]?.bytes,
      let y = key[label: -3]?.bytes, let recipient = try? PublicKey(curve: .p256, x: x, y: y)
    else { throw MockError.unreadableRequest("encryptionInfo must be an EncryptionInfo with a P-256 key") }
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

/// `["dcapi", {"enc": …, "cipherText": …}]`.
struct EncryptedResponseDraft: Sendable {
  /// The response's own seed.
  let seed: MockSeed
  var name: CBORValue = "dcapi"
  var fields: MapDraft
  /// Elements after the first two.
  var further: [CBORValue] = []

  var value: CBORValue { .array([name, fields.value] + further) }
}
