import Base
import Cryptography

extension MockWallet {
  /// The answer to a request of the Digital Credentials API: `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C) or one of
  /// OpenID4VP's protocols, encrypted where the request says so.
  ///
  /// Of documents any of which will do, the first that the wallet has is returned; else all that it has.
  ///
  /// - Parameters:
  ///   - data: `data` of the entry of `requests`, as the page passes it on.
  ///   - request: what the person agrees to, in place of what the request says; documents that it lacks are withheld.
  /// - Throws: `MockError` where the request cannot be read or nothing of it is there.
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

  /// The answer to a request object (RFC 9101), to be posted to its `response_uri`: OpenID4VP 1.0, or its older profile
  /// in ISO/IEC TS 18013-7, Annex B, where the object has a presentation definition.
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
    var session = try AnnexCDraft(encryptionInfo: encryptionInfo, origin: origin)
    let expected = session.transcript
    try variant.mutation.annexC?(&session)
    let seed = try answerSeed(session.transcript)
    let chosen = try asked.chosen(holding: docTypes)
    let response = try deviceResponse(
      MockRequest(documents: chosen.map(\.document)), of: asked.request, transcript: session.transcript,
      authentication: .signature, mutation: variant.mutation, documentLimit: chosen.count, seed: seed, at: now)
    let message = session.wrap(response)
    // One key a message: two variants of one session must not share a GCM key and nonce.
    let ephemeral = try seed.child("hpke", context: message).key("ephemeral", on: .p256)
    var sealed = try session.seal(message, ephemeralKey: ephemeral, seed: seed)
    try variant.mutation.encryptedResponse?(&sealed)
    var bytes = sealed.value.encoded()
    try variant.mutation.encryptedResponseBytes?(&bytes)
    var web = WebDataDraft(members: [.init("response", .string(Base64.encodeURLSafe(bytes)))], clear: [])
    try variant.mutation.webData?(&web)
    return MockWebAnswer(
      data: .object(web.members), deviceResponses: [response], sessionTranscript: expected, variant: variant)
  }

  var docTypes: Set<String> { Set(documents.map(\.docType)) }
}

/// The names that the web protocols have in requests and answers.
enum MockProtocol {
  static let annexC = "org-iso-mdoc"
}
