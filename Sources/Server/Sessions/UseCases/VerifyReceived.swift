import Base
import Cryptography
import Longfellow
import Mdoc
import Presentation

/// `POST /v1/verifications`: the verdict on a response that another stack requested and received.
///
/// The caller sends the session transcript, or the protocol's values for building it. Only the caller can ensure that
/// the transcript belongs to its own session. The caller also ensures the challenge's single use. With `nonce_id`, this
/// server ensures it. Otherwise the response is verified like a submitted response. The server stores only its report
/// and its audit entry.
extension VerificationService {
  /// 200 for any verdict.
  package func verify(
    _ body: JSON, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller, isSubmit: true) { _ throws(ServiceError) in
      let body = try VerificationBody.shape.value(of: body)
      let party = caller.relyingParty
      var faults = Faults()
      let received = body.received(by: party, &faults)
      let request = body.presentationRequest(for: party, circuits: circuits?.circuits ?? [], &faults)
      if body.time != nil, mode != .test { faults.add("/at", "is allowed in test mode only") }
      guard let received, let request, faults.isEmpty else { throw faults.refusal }
      try await checkQuota(of: party, forSession: true)
      let flow = Flow(relyingParty: party.id)
      try gate.enter(flow)
      defer { gate.leave(flow) }
      let opening =
        received.isEnvelope
        ? try await self.opening(.response(.bytes(body.response)), by: AppleInAppProtocol(), for: party) : nil
      if let nonce = body.nonceID { try await useUp(nonce, of: party) }
      let stages = StageTimer(configuration.observe)
      let judged = await judge(
        request, for: party, under: configuration.trust.current, at: body.time ?? clock(), stages
      ) { verifier, now in
        received.authenticate(
          body.response, isTest: mode == .test,
          by: VerificationRules(
            request: request, relyingParty: party, verifier: verifier, now: now, opening: opening))
      }
      stages.end(.conclude)
      let outcome = try Self.outcome(judged.verdict, of: received, for: party)
      try await stored { store throws(StoreError) in try await store.recordVerification(outcome, at: clock()) }
      stages.end(.outcome)
      estimates.note(StoreUsage(bytes: StoreUsage.sessionOverhead), of: party.id)
      return reply(to: judged.verdict, outcome.report, isUsedOnce: body.nonceID != nil)
    }
  }

  /// Consumes the caller's `nonce_id` durably, before the response is opened. If the process crashes before the
  /// verification, the `nonce_id` can be used again.
  private func useUp(_ nonceID: String, of party: RelyingParty) async throws(ServiceError) {
    // No request has this method, so no Idempotency-Key collides with a `nonce_id`.
    let claim = try IdempotencyClaim(
      IdempotencyRequest(key: nonceID, method: "nonce", path: VerificationBody.path, body: []), of: party.id)
    let start = try await stored { store throws(StoreError) in try await store.beginIdempotent(claim, at: clock()) }
    guard case .started = start else {
      throw ServiceError(.sessionAlreadyUsed, "A response with this `nonce_id` was verified within the last 24 hours.")
    }
    let used = IdempotencyCompletion(claim: claim, reply: StoredReply(session: nil, body: nil))
    try await stored { store throws(StoreError) in try await store.finishIdempotent(used) }
  }

  private static func outcome(
    _ verdict: Verdict, of received: ReceivedResponse, for party: RelyingParty
  ) throws(ServiceError) -> AttemptOutcome {
    let address: SessionAddress
    let attempt: AttemptID
    do {
      address = SessionAddress(relyingParty: party.id, id: try SessionID.random())
      attempt = try AttemptID.random()
    } catch { throw .cryptoFailed }
    return AttemptOutcome(
      address: address, attempt: attempt, protocolName: received.name,
      conclusion: verdict.lastError.map { .failed($0) } ?? .verified(.none),
      report: ReportRecord(verdict.report, id: ReportID(of: address.id)))
  }

  /// The verdict on a DeviceResponse under the given anchors, for test mode's `/check`. Stores nothing, applies no
  /// relying party's policy, and does not check revocation. Without a request, the result contains every verified
  /// element.
  /// - Parameter request: the API's form, or a DCQL query.
  package func check(
    _ response: [UInt8], _ transcript: [UInt8], under trust: any IssuerTrust, request: JSON?, at time: Timestamp?
  ) throws(ServiceError) -> Reply {
    guard let transcript = try? SessionTranscript(received: transcript) else {
      throw .invalidMember("/session_transcript", "must be an array of device engagement, reader key and handover")
    }
    let request = try request.map { json throws(ServiceError) in
      try PresentationRequestDecoder(for: .web).decode(requestOrQuery: json)
    }
    let verdict = Proximity(verifier: MdocVerifier(trust: trust)).authenticate(
      response, transcript: transcript, readerKey: nil, request: request, at: time ?? clock()
    ).conclude(with: RevocationEvidence())
    return reply(to: verdict, ReportRecord(verdict.report, id: nil), isUsedOnce: false)
  }

  private func reply(to verdict: Verdict, _ report: ReportRecord?, isUsedOnce: Bool) -> Reply {
    var view = VerificationView(isLive: mode.isLive, isUsedOnce: isUsedOnce, report: report)
    switch verdict.outcome {
    case .accepted(let presentation): view.result = ResultRendering.json(presentation)
    case .refused:
      view.lastError = verdict.lastError
      if mode == .test { view.simulatedResult = verdict.simulated.map(ResultRendering.json) }
    }
    var reply = Reply(json: VerificationView.shape.write(view))
    reply.verification = view.lastError == nil ? .verified : .failed
    reply.code = view.lastError.flatMap { Code(rawValue: $0.code) }
    reply.resultExpiresAt = clock() + Limits.resultLifetime
    return reply
  }
}

extension Verdict {
  fileprivate var lastError: LastError? {
    if case .refused(let reasons) = outcome { LastError(reasons, walletDescription: walletDescription) } else { nil }
  }
}

/// A response with the values to which it is bound.
enum ReceivedResponse {
  case transcript(SessionTranscript, name: String, readerKey: PrivateKey?)
  case envelope(nonce: [UInt8], AppleConfiguration)

  var isEnvelope: Bool { if case .envelope = self { true } else { false } }

  /// The protocol, for the audit entry.
  var name: String {
    switch self {
    case .transcript(_, let name, _): name
    case .envelope: AppleInAppProtocol().name
    }
  }

  func authenticate(_ response: [UInt8], isTest: Bool, by rules: VerificationRules) -> Authentication {
    switch self {
    case .transcript(let transcript, _, let readerKey):
      return Proximity(verifier: rules.verifier).authenticate(
        response, transcript: transcript, readerKey: readerKey, request: rules.request, at: rules.now)
    case .envelope(let nonce, let apple):
      let challenge = try? AppleChallenge(nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID)
      guard let challenge else { return rules.interrupted() }
      return AppleInAppProtocol(showsSimulatedResults: isTest).authenticate(response, answering: challenge, by: rules)
    }
  }
}

/// The body of `POST /v1/verifications`.
package struct VerificationBody: Equatable, Sendable {
  package static let path = "/v1/verifications"

  struct OpenID4VPHandover: Equatable, Sendable {
    let clientID, responseURI, nonce: String
    let thumbprint: [UInt8]?
  }

  struct WebHandover: Equatable, Sendable {
    let origin, nonce: String
    let thumbprint: [UInt8]?
  }

  struct AnnexCHandover: Equatable, Sendable {
    let origin, encryptionInfo: String
  }

  struct AppleHandover: Equatable, Sendable {
    let nonce: [UInt8]
    let merchantID: String
  }

  let response: [UInt8]
  let transcript: [UInt8]?
  let openID4VP: OpenID4VPHandover?
  let web: WebHandover?
  let annexC: AnnexCHandover?
  let apple: AppleHandover?
  let request: PresentationInput?
  let query: DCQLQuery?
  let deviceRequest: [UInt8]?
  let readerKey: String?
  let nonceID: String?
  let time: Timestamp?

  package static let shape = Shape<VerificationBody>.object(
    "CreateVerification",
    """
    A received response, with its challenge and its request. For the challenge, send exactly one of \
    `session_transcript`, `openid4vp`, `openid4vp_dc_api`, `org_iso_mdoc` and `apple_in_app`. For the request, send \
    exactly one of `request`, `dcql_query` and `device_request`.
    """, VerificationBody.init,
    Field(
      "response", \.response, .someBase64URL,
      "The decrypted DeviceResponse in base64url; with `apple_in_app` the encrypted envelope."),
    .optional(
      "session_transcript", \.transcript, .someBase64URL,
      "The SessionTranscript, or SessionTranscriptBytes, in base64url."
    ),
    .optional("openid4vp", \.openID4VP, openID4VP, "A response that a wallet posted (OpenID4VP 1.0, B.2.6.2)."),
    .optional(
      "openid4vp_dc_api", \.web, web, "A response of OpenID4VP by the Digital Credentials API (OpenID4VP 1.0, B.2.6.1)."
    ),
    .optional("org_iso_mdoc", \.annexC, annexC, "A response by ISO/IEC TS 18013-7, Annex C."),
    .optional("apple_in_app", \.apple, apple, "The response to an iPhone app, for one of your configured merchants."),
    .optional("request", \.request, PresentationInput.shape, "The request, as in a session."),
    .optional("dcql_query", \.query, DCQLQuery.shape, "The request, as a DCQL query."),
    .optional(
      "device_request", \.deviceRequest, .someBase64URL,
      "The request, as a DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1) in base64url. Every element is required."
    ),
    .optional(
      "reader_key", \.readerKey, .text(1...Limits.submittedKeyBytes),
      """
      The private key that a device MAC needs: unencrypted PEM, or the raw scalar in base64url, on the curve of the \
      transcript's reader key, otherwise on P-256.
      """),
    .optional(
      "nonce_id", \.nonceID, .text(),
      """
      Your own name for the challenge, such as its nonce. The server keeps its hash for 24 hours, and refuses a second \
      response with it (`session.already_used`). Without it, you must ensure the challenge's single use.
      """),
    .optional("at", \.time, time, "The time of the verification, in Unix seconds; only in test mode. By default now."))

  private static let time = Shape<Int64>.integer(0...253_402_300_799).map {
    Timestamp(secondsSince1970: $0)
  } back: {
    $0.secondsSince1970
  }
  private static let text = Shape<String>.text(1...Limits.handoverCharacters)
  private static let thumbprint = Shape<[UInt8]>.base64URL.checked("must be 32 bytes in base64url") { $0.count == 32 }
  private static let keyNote =
    "The SHA-256 thumbprint (RFC 7638) of the response's encryption key, in base64url; null or absent if "
    + "it was not encrypted."

  private static let openID4VP = Shape.object(
    "OpenID4VPHandover", "The request's parameters that the handover contains.", OpenID4VPHandover.init,
    Field("client_id", \.clientID, text, "The client identifier with its prefix."),
    Field("response_uri", \.responseURI, text, "The address to which the wallet posted."),
    Field("nonce", \.nonce, text, "The nonce."),
    .optional("jwk_thumbprint", \.thumbprint, thumbprint, keyNote))

  private static let web = Shape.object(
    "OpenID4VPDCAPIHandover", "The request's parameters that the handover contains, and the page's origin.",
    WebHandover.init,
    Field("origin", \.origin, text, "The page's origin, `https://host[:port]`."),
    Field("nonce", \.nonce, text, "The nonce."),
    .optional("jwk_thumbprint", \.thumbprint, thumbprint, keyNote))

  private static let annexC = Shape.object(
    "MdocHandover", "The values that the handover contains.", AnnexCHandover.init,
    Field("origin", \.origin, text, "The page's origin, `https://host[:port]`."),
    Field("encryption_info", \.encryptionInfo, text, "`encryptionInfo` exactly as it was sent, in base64url."))

  private static let apple = Shape.object(
    "AppleInAppHandover", "The values that the transcript contains.", AppleHandover.init,
    Field(
      "nonce", \.nonce,
      Shape<[UInt8]>.anyBase64.checked(
        "must be \(Limits.shortestNonceBytes) to \(Limits.appleNonceBytes) bytes in base64 or base64url"
      ) { (Limits.shortestNonceBytes...Limits.appleNonceBytes).contains($0.count) }, "The nonce of the request."),
    Field("merchant_identifier", \.merchantID, .text(), "The merchant identifier of the app."))
}

extension VerificationBody {
  /// The values to which the response is bound. If they are invalid, records the faults and returns nil.
  func received(by party: RelyingParty, _ faults: inout Faults) -> ReceivedResponse? {
    let forms: [(name: String, isThere: Bool)] = [
      ("session_transcript", transcript != nil), ("openid4vp", openID4VP != nil), ("openid4vp_dc_api", web != nil),
      ("org_iso_mdoc", annexC != nil), ("apple_in_app", apple != nil),
    ]
    guard Self.isOne(of: forms, &faults) else { return nil }
    if let apple {
      if readerKey != nil { faults.add("/reader_key", "is not for `apple_in_app`, which has no device MAC") }
      guard let merchant = party.apple.first(where: { $0.merchantID == apple.merchantID }) else {
        faults.add("/apple_in_app/merchant_identifier", "is not one of the relying party's merchants")
        return nil
      }
      return .envelope(nonce: apple.nonce, merchant)
    }
    guard let transcript = sessionTranscript else {
      faults.add("/session_transcript", "must be an array of device engagement, reader key and handover")
      return nil
    }
    return .transcript(transcript, name: forms.first(where: \.isThere)?.name ?? "", readerKey: key(&faults))
  }

  private var sessionTranscript: SessionTranscript? {
    if let transcript { return try? SessionTranscript(received: transcript) }
    if let annexC { return AnnexCChallenge.transcript(encryptionInfo: annexC.encryptionInfo, origin: annexC.origin) }
    if let web {
      return OpenID4VPRecipient.origin(web.origin).transcript(nonce: web.nonce, keyThumbprint: web.thumbprint)
    }
    return openID4VP.map {
      OpenID4VPRecipient.client(id: $0.clientID, responseURI: $0.responseURI)
        .transcript(nonce: $0.nonce, keyThumbprint: $0.thumbprint)
    }
  }

  private func key(_ faults: inout Faults) -> PrivateKey? {
    guard let readerKey else { return nil }
    let session = transcript.flatMap { try? ReaderSession(transcript: $0, privateKey: nil) }
    let key = ProximityInput.privateKey(readerKey, on: session?.readerKey.curve ?? .p256)
    if key == nil {
      faults.add("/reader_key", "must be an unencrypted private key in PEM, or its raw scalar in base64url")
    }
    return key
  }

  /// The request against which the response is verified. If the request is invalid, records the faults and returns nil.
  func presentationRequest(
    for party: RelyingParty, circuits: [KnownCircuit], _ faults: inout Faults
  ) -> PresentationRequest? {
    let forms = [
      ("request", request != nil), ("dcql_query", query != nil), ("device_request", deviceRequest != nil),
    ]
    guard Self.isOne(of: forms, &faults) else { return nil }
    let names = query == nil ? [] : DCQLQuery.protocols
    let input =
      request ?? query?.input(at: "/dcql_query", &faults)
      ?? deviceRequest.flatMap { PresentationInput(deviceRequest: $0, at: "/device_request", &faults) }
    guard let input else { return nil }
    return PresentationRequestDecoder(
      for: apple == nil ? .web : .inApp, protocols: names, retention: party.policies.retention, circuits: circuits,
      revocation: party.policies.revocation
    ).request(input, at: request == nil ? "" : "/request", &faults)
  }

  /// Returns true if exactly one of the forms is present. Otherwise records a fault.
  private static func isOne(of forms: [(name: String, isThere: Bool)], _ faults: inout Faults) -> Bool {
    let given = forms.filter(\.isThere)
    if given.count == 1 { return true }
    let names = forms.map(\.name).alternatives
    faults.add(
      given.last.map { "/\($0.name)" } ?? "/\(forms[0].name)",
      given.isEmpty ? "is required: send exactly one of \(names)" : "excludes the others: send exactly one of \(names)")
    return false
  }
}

/// The reply: a verdict in the same form as a session's verdict.
struct VerificationView: Sendable {
  let isLive: Bool
  let isUsedOnce: Bool
  let report: ReportRecord?
  var result: JSON?
  var simulatedResult: JSON?
  var lastError: LastError?

  static let shape = Shape<VerificationView>.open(
    "Verification", "The verdict on a response that you received yourself. Only `report` is stored.",
    [
      .always("object", { _ in "verification" }, .kind, "`verification`."),
      .always("livemode", \.isLive, .flag, "Whether the server runs in live mode."),
      .always(
        "status", { $0.lastError == nil ? "verified" : "failed" }, .written(["verified", "failed"]), "The verdict."),
      .always(
        "single_use", { $0.isUsedOnce ? "server" : "caller" }, .written(["caller", "server"]),
        "The party that ensures the challenge's single use: the server if you sent `nonce_id`, otherwise you."),
      .orNull(
        "result", \.result, .any(ResultRendering.shape.schema), "The requested data; null if the response failed."),
      .ifAny(
        "simulated_result", \.simulatedResult, .any(ResultRendering.simulated.schema),
        "The response of Apple's simulator or test profile, in test mode only. It proves nothing."),
      .orNull("report", \.report, ReportRendering.written, "The checks."),
      .orNull("last_error", \.lastError, LastError.shape, "The reason for the failure; null if there was none."),
    ])
}
