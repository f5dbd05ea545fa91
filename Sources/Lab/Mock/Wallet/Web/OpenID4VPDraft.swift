import Base
import CBOR
import Cryptography

extension MockWallet {
  /// The response to an OpenID4VP request: a DeviceResponse for each query (1.0, B.2), or one for all (Annex B).
  func answer(
    _ parsed: OpenID4VPRequest, request: MockRequest?, authentication: MockWebAuthentication, variant: MockVariant,
    at now: Timestamp
  ) throws -> MockWebResponse {
    let requested = parsed.requested.restricted(to: request)
    let expected = try OpenID4VPDraft(parsed, seed: authority.seed)
    let chosen = try requested.chosen(
      by: self, inFull: answersOnlyInFull && !parsed.channel.isAnnexB, at: now)
    let device = try deviceAuthentication(authentication, parsed)
    let groups = parsed.channel.isAnnexB ? [chosen] : chosen.map { [$0] }
    return try variant.applied(
      over: parsed.channel.protocolName, isEncrypted: parsed.isEncrypted, usesMAC: authentication == .mac,
      hasProofs: proves(MockRequest(documents: chosen.map(\.document))), seen: \.data
    ) { mutation in
      var session = expected
      try mutation.apply(Stages.openID4VP, to: &session)
      let seed = try responseSeed(session.transcript)
      let responses = try groups.map { queries in
        try deviceResponse(
          MockRequest(documents: queries.map(\.document)), of: requested.request, transcript: session.transcript,
          authentication: device, readerKey: parsed.recipient?.key, mutation: mutation, documentLimit: queries.count,
          seed: seed, at: now)
      }
      let presentations = zip(groups, responses).map { queries, response in
        JSON.Member(queries[0].id, [.string(Base64.encodeURLSafe(response))])
      }
      var authorization = AuthorizationResponseDraft(token: .object(presentations), state: parsed.state)
      if parsed.channel.isAnnexB {
        authorization.token = presentations.first?.value.array?.first
        authorization.submission = submission(of: chosen, to: parsed)
      }
      try mutation.apply(Stages.authorizationResponse, to: &authorization)
      var web = try webData(authorization, session, seed: seed, mutation: mutation)
      try mutation.apply(Stages.webData, to: &web)
      return MockWebResponse(
        data: .object(web.members), deviceResponses: responses, sessionTranscript: expected.transcript,
        variant: variant)
    }
  }

  /// `{"response": JWE}`, or the members themselves if nothing is encrypted. In a form, every member is text.
  private func webData(
    _ authorization: AuthorizationResponseDraft, _ session: OpenID4VPDraft, seed: MockSeed, mutation: MockMutation
  ) throws -> WebDataDraft {
    let request = session.request
    let clear = request.channel.isForm ? authorization.members.map(\.asFormField) : authorization.members
    guard let recipient = request.recipient else { return WebDataDraft(members: clear, clear: clear) }
    var jwe = try JWEDraft(
      JSON.object(authorization.members).serialized(), to: recipient.key, keyID: recipient.keyID,
      encryption: request.encryption, agreementInfo: session.agreementInfo, seed: seed)
    try mutation.apply(Stages.jwe, to: &jwe)
    var parts = try jwe.parts()
    try mutation.apply(Stages.jweParts, to: &parts)
    return WebDataDraft(members: [.init("response", .string(parts.joined(separator: ".")))], clear: clear)
  }

  private func deviceAuthentication(
    _ authentication: MockWebAuthentication, _ request: OpenID4VPRequest
  ) throws -> MockDeviceAuthentication {
    guard authentication == .mac else { return .signature }
    guard let recipient = request.recipient, deviceCurve == recipient.key.curve else {
      throw MockError.nothingToChange("a MAC needs the verifier's encryption key on the device key's curve")
    }
    return .mac(readerKey: recipient.key)
  }

  private func submission(of queries: [RequestedDocuments.Query], to request: OpenID4VPRequest) -> JSON {
    [
      "definition_id": .string(request.definitionID ?? ""), "id": "mock-submission",
      "descriptor_map": .array(queries.map { ["id": .string($0.id), "format": "mso_mdoc", "path": "$"] }),
    ]
  }
}

extension OpenID4VPRequest.Channel {
  fileprivate var isAnnexB: Bool { if case .annexB = self { true } else { false } }

  /// The protocol's name. The Digital Credentials API's protocols are alike here, so one name represents them.
  fileprivate var protocolName: String {
    isAnnexB ? MockProtocol.annexB : isForm ? MockProtocol.redirect : MockProtocol.overBrowser
  }

  /// True if the wallet posts a form, false if it passes an object to the page.
  fileprivate var isForm: Bool { if case .digitalCredentialsAPI = self { false } else { true } }
}

extension OpenID4VPDraft {
  /// `apu` and `apv` of Annex B: the wallet's nonce and the verifier's nonce, as in the transcript.
  fileprivate var agreementInfo: [JSON.Member] {
    guard request.channel.isAnnexB else { return [] }
    return [("apu", mdocNonce), ("apv", nonce)].map { name, text in
      JSON.Member(name, .string(Base64.encodeURLSafe(Array(text.utf8))))
    }
  }
}

extension JSON.Member {
  /// The member as a form field: any value except text is written as JSON (OpenID4VP 1.0, 8.2).
  fileprivate var asFormField: JSON.Member { JSON.Member(name, value.string == nil ? .string(value.text()) : value) }
}

/// The wallet's part of an OpenID4VP session.
struct OpenID4VPDraft: Sendable {
  /// The forms of the handover.
  enum Handover: String, Sendable, EditValue {
    case digitalCredentialsAPI, redirect
    /// ISO/IEC TS 18013-7, Annex B, based on OpenID4VP's draft 18.
    case draft18
    /// OpenID4VP's draft 24 over the Digital Credentials API.
    case draft24
  }

  let request: OpenID4VPRequest
  /// The seed of values in the transcript.
  let seed: MockSeed
  var handover: Handover
  var clientID: String
  var nonce: String
  var origin: String
  var responseURI: String
  /// The thumbprint's bytes, or null if nothing is encrypted.
  var thumbprint: CBORValue
  /// The wallet's nonce, also in the JWE's `apu` (Annex B).
  var mdocNonce: String

  init(_ request: OpenID4VPRequest, seed: MockSeed) throws {
    self.request = request
    self.seed = try seed.child("openid4vp", context: Array("\(request.nonce)/\(request.clientID)".utf8))
    clientID = request.clientID
    nonce = request.nonce
    thumbprint = request.recipient.map { .bytes(MockJWK.thumbprint(of: $0.key)) } ?? .null
    mdocNonce = Base64.encodeURLSafe(try self.seed.bytes("mdoc nonce", count: 16))
    switch request.channel {
    case .digitalCredentialsAPI(let origin): (handover, self.origin, responseURI) = (.digitalCredentialsAPI, origin, "")
    case .redirect(let uri): (handover, origin, responseURI) = (.redirect, Self.origin(of: uri), uri)
    case .annexB(let uri): (handover, origin, responseURI) = (.draft18, Self.origin(of: uri), uri)
    }
  }

  var transcript: [UInt8] {
    switch handover {
    case .digitalCredentialsAPI:
      MockSessionTranscript.hashed("OpenID4VPDCAPIHandover", [.text(origin), .text(nonce), thumbprint])
    case .redirect:
      MockSessionTranscript.hashed(
        "OpenID4VPHandover", [.text(clientID), .text(nonce), thumbprint, .text(responseURI)])
    case .draft18:
      MockSessionTranscript.annexB(clientID: clientID, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce)
    case .draft24:
      MockSessionTranscript.hashed("OpenID4VPDCAPIHandover", [.text(origin), .text(clientID), .text(nonce)])
    }
  }

  /// Scheme, host and port of an address.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }
}

/// The members of an authorization response (OpenID4VP 1.0, 8.1), before it is encrypted or posted.
struct AuthorizationResponseDraft: Sendable {
  /// `vp_token`: for each query's id, an array of presentations in base64url. In Annex B, a single presentation.
  var token: JSON?
  var state: String?
  /// `presentation_submission` (Annex B).
  var submission: JSON?
  var further: [JSON.Member] = []
  /// An error code, which replaces presentations (8.5).
  var error: String?

  var members: [JSON.Member] {
    let state = state.map { JSON.string($0) }
    if let error { return JSON.members(["error": .string(error), "state": state]).object ?? [] }
    let members = JSON.members(["vp_token": token, "presentation_submission": submission, "state": state])
    return (members.object ?? []) + further
  }
}

/// The parameters of an authorization request. The wallet checks the structure, but no signatures.
struct OpenID4VPRequest: Sendable {
  /// The channel of the response, which decides the handover.
  enum Channel: Sendable, Hashable {
    case digitalCredentialsAPI(origin: String)
    case redirect(responseURI: String)
    /// ISO/IEC TS 18013-7, Annex B.
    case annexB(responseURI: String)
  }

  let channel: Channel
  let clientID: String
  let nonce: String
  let state: String?
  let requested: RequestedDocuments
  /// `id` of the presentation definition (Annex B).
  let definitionID: String?
  /// The verifier's key; nil for an unencrypted response.
  let recipient: MockJWK?
  /// The content encryption: `A128GCM` or `A256GCM`.
  let encryption: String

  var isEncrypted: Bool { recipient != nil }

  /// - Parameter protocolName: one of the three OpenID4VP protocols; it decides the form of `data`.
  init(protocolName: String, data: JSON, origin: String) throws {
    let parameters: JSON =
      switch protocolName {
      case "openid4vp-v1-unsigned": data
      case "openid4vp-v1-signed": try Self.payload(ofCompact: data["request"]?.string)
      case "openid4vp-v1-multisigned": try Self.payload(data["request"]?["payload"]?.string)
      default: throw MockError.unreadableRequest("\(protocolName) is not a protocol of the Digital Credentials API")
      }
    try self.init(parameters, channel: .digitalCredentialsAPI(origin: origin))
  }

  /// - Parameter requestObject: a compact JWS (RFC 9101).
  init(requestObject: [UInt8]) throws {
    try self.init(parameters: Self.payload(ofCompact: String(decoding: requestObject, as: UTF8.self)))
  }

  /// - Parameter origin: the page's origin over the Digital Credentials API; nil for a request by link.
  init(parameters: JSON, origin: String? = nil) throws {
    let channel: Channel
    if let origin {
      channel = .digitalCredentialsAPI(origin: origin)
    } else if let responseURI = parameters["response_uri"]?.string {
      let isAnnexB = parameters["presentation_definition"] != nil
      channel = isAnnexB ? .annexB(responseURI: responseURI) : .redirect(responseURI: responseURI)
    } else {
      throw MockError.unreadableRequest("response_uri is missing")
    }
    try self.init(parameters, channel: channel)
  }

  private init(_ parameters: JSON, channel: Channel) throws {
    guard let nonce = parameters["nonce"]?.string, let mode = parameters["response_mode"]?.string else {
      throw MockError.unreadableRequest("nonce or response_mode is missing")
    }
    let metadata = parameters["client_metadata"]
    self.channel = channel
    self.nonce = nonce
    clientID = parameters["client_id"]?.string ?? ""
    state = parameters["state"]?.string
    let definition = parameters["presentation_definition"]
    definitionID = definition?["id"]?.string
    requested =
      try definition.map { try RequestedDocuments(presentationDefinition: $0) }
      ?? RequestedDocuments(dcql: parameters["dcql_query"] ?? .null)
    recipient = mode.hasSuffix(".jwt") ? metadata?["jwks"]?["keys"]?.array?.lazy.compactMap(MockJWK.init).first : nil
    if mode.hasSuffix(".jwt"), recipient == nil {
      throw MockError.unreadableRequest("client_metadata has no P-256 key to encrypt to")
    }
    // In OpenID4VP 1.0, the request lists the supported encryptions; the default is A128GCM. In Annex B, it states one
    // encryption.
    let supported = metadata?["encrypted_response_enc_values_supported"]?.array?.compactMap(\.string) ?? ["A128GCM"]
    let known = ["A128GCM", "A256GCM"]
    let offered = metadata?["authorization_encrypted_response_enc"]?.string.map { [$0] } ?? supported
    guard let chosen = offered.first(where: known.contains) else {
      throw MockError.unreadableRequest("client_metadata offers no content encryption of \(known)")
    }
    encryption = chosen
  }

  private static func payload(ofCompact text: String?) throws -> JSON {
    let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw MockError.unreadableRequest("the request must be a compact JWS") }
    return try payload(String(parts[1]))
  }

  private static func payload(_ text: String?) throws -> JSON {
    guard let bytes = text.flatMap(Base64.decodeURLSafe), let json = try? JSON(parsing: bytes), json.object != nil
    else { throw MockError.unreadableRequest("the request's payload must be a JSON object") }
    return json
  }
}
