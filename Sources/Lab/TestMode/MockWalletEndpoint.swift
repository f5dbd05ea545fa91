import App
import Base
import Mdoc
import Mock
import Sessions

/// The mock wallet behind `POST /v1/test/mock_responses`: test mode's phone and, in person, its reader too.
struct MockWalletEndpoint: Sendable {
  let authority: MockAuthority
  /// Nil for a wallet that makes no zero-knowledge proofs.
  var prover: MockProver?

  /// An `Idempotency-Key` is accepted and ignored: an answer changes no state, and within the same second it is the
  /// same answer.
  var routes: [Route] {
    [
      route(
        "mock_responses", name: "createMockResponse", reply: "SubmitVerificationSession",
        summary: "Make a mock wallet's response",
        description: "Good or wrong in a named way, and ready to submit."
      ) { $0.submitted },
      // No wallet shows what it encrypts. This one shows what it made.
      route(
        "opened_mock_responses", name: "createOpenedMockResponse", reply: "OpenedMockResponse",
        summary: "Make a mock wallet's response and open it",
        description: "The response, and beside it the DeviceResponses that are encrypted in it."
      ) { answer in
        OpenedMockResponse.shape.write(
          OpenedMockResponse(submitted: answer.submitted, deviceResponses: answer.made.deviceResponses))
      },
    ]
  }

  private func route(
    _ path: String, name: String, reply schema: String, summary: String, description: String,
    body: @escaping @Sendable (ReadyAnswer) -> JSON
  ) -> Route {
    Route(
      method: .post, path: PathTemplate("/v1/test/\(path)"), name: name, summary: summary, description: description,
      access: .apiKey([.sessionsWrite]), body: .reading(MockResponseInput.shape, [Self.example]),
      success: .json(200, schema),
      problems: Self.problems
    ) { call throws(ServiceError) in
      let answer = try await self.answer(call)
      var reply = Answer(json: body(answer))
      reply.session = answer.session.text
      return reply
    }
  }

  /// The session is one that was made before.
  private static let example = RequestExample(
    "good", "A right response.", ["session": "vs_AAAAAAAAAAAAAAAAAAAAAA", "variant": "good"])

  private static let problems: [Code] = [
    .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
    .sessionRedacted, .readerCertificateExpired, .apiNotFound,
  ]

  private struct ReadyAnswer: Sendable {
    let session: SessionID
    let protocolName: String
    let made: HandedIn

    /// The body of the submit.
    var submitted: JSON { ["protocol": .string(protocolName), "data": made.data] }
  }

  private func answer(_ call: RouteCall) async throws(ServiceError) -> ReadyAnswer {
    let input = try MockResponseInput.shape.value(of: call.body)
    let pending = try await call.application.service.pendingRequest(
      input.session, by: input.protocolName, as: call.authenticated())
    do {
      let key = input.wantsEncryptedRequest ? try MockRequestKey(of: authority) : nil
      let fetched = try await requestObject(pending, at: input.requestURI, key, call)
      let object = try fetched.map { try key?.open($0) ?? $0 }
      let wallet = MockWallet(authority: authority, documents: try input.documents(), prover: prover)
      let made = try answer(pending, object, by: wallet, input, at: call.application.clock())
      return ReadyAnswer(session: pending.session, protocolName: pending.protocolName, made: made)
    } catch let error as MockError {
      throw input.fault(error)
    } catch let error as ServiceError {
      throw error
    } catch {
      throw ServiceError(.apiInternal, "The mock wallet failed.")
    }
  }

  /// The request object that a wallet would fetch, or the link that holds the request; nil if the protocol sends the
  /// request itself.
  private func requestObject(
    _ pending: PendingRequest, at address: String?, _ key: MockRequestKey?, _ call: RouteCall
  ) async throws(ServiceError) -> [UInt8]? {
    guard ProtocolFamily(ofProtocol: pending.protocolName) == .redirect else { return nil }
    if pending.data["request_uri"] == nil, let link = address ?? pending.data["authorization_request"]?.string {
      guard link.contains(pending.session.text) else {
        throw .invalidMember("/request_uri", "must be the link of the session, or of its page")
      }
      return Array(link.utf8)
    }
    let named = address.map { $0.split(separator: "/").dropLast().last.map(String.init) ?? "" }
    if let named, WalletPath(named)?.session != pending.session {
      throw .invalidMember("/request_uri", "must be the `request_uri` of the session, or of its page")
    }
    let metadata = key.map { $0.metadata.text() }
    return try await call.application.service.walletRequest(
      named ?? pending.session.text, of: pending.relyingParty.id,
      parameters: metadata.map { ["wallet_metadata": .string($0)] })
  }

  private func answer(
    _ pending: PendingRequest, _ requestObject: [UInt8]?, by wallet: MockWallet, _ input: MockResponseInput,
    at now: Timestamp
  ) throws -> HandedIn {
    let request = input.restricted(MockRequest(pending.request, withAlternatives: input.isRestricted))
    // Unless the person withholds something, the wallet answers what it reads in the request itself.
    let agreed = input.isRestricted ? request : nil
    if let requestObject {
      return HandedIn(
        try wallet.answer(requestObject: requestObject, request: agreed, variant: input.variant, at: now))
    }
    if let origin = pending.origin, ProtocolFamily(ofProtocol: pending.protocolName) == .web {
      return HandedIn(
        try wallet.answer(
          digitalCredential: pending.protocolName, data: pending.data, origin: origin, request: agreed,
          variant: input.variant, at: now))
    }
    if let deviceRequest = pending.data["device_request"]?.string.flatMap(Base64.decodeURLSafe) {
      let meeting = try wallet.meet(
        readerAsking: deviceRequest, request: agreed, occasion: Array(pending.session.text.utf8),
        variant: input.variant, at: now)
      return try HandedIn(meeting)
    }
    let merchant = pending.data["merchant_identifier"]?.string
    guard let apple = pending.relyingParty.apple.first(where: { $0.merchantID == merchant }),
      let recipient = apple.encryptionKeys.first,
      let nonce = pending.data["nonce"]?.string.flatMap(Base64.decode)
    else { throw MockError.unreadableRequest("\(pending.protocolName) without a nonce or a merchant") }
    let session = MockAppleSession(
      nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID, recipientKey: recipient.publicKey)
    let answer = try wallet.answerApple(request, session: session, variant: input.variant, at: now)
    return HandedIn(
      data: ["encrypted_data": .string(Base64.encode(answer.bytes))], deviceResponses: [answer.deviceResponse])
  }
}

/// An answer as it is handed in, and what is encrypted in it.
private struct HandedIn: Sendable {
  let data: JSON
  let deviceResponses: [[UInt8]]
}

extension HandedIn {
  init(_ answer: MockWebAnswer) { self.init(data: answer.data, deviceResponses: answer.deviceResponses) }

  /// What a reader hands in: the parts of the transcript, the encrypted answer, and its private key.
  init(_ meeting: MockMeeting) throws {
    func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
    self.init(
      data: [
        "device_engagement": text(meeting.deviceEngagement), "e_reader_key": text(meeting.readerKey), "handover": "qr",
        "session_data": text(meeting.answer.bytes),
        "reader_private_key": text(try meeting.readerPrivateKey.scalar().exposed()),
      ],
      deviceResponses: [meeting.answer.deviceResponse])
  }
}

extension MockRequest {
  /// - Parameter withAlternatives: whether the person may choose an element that comes in place of another.
  fileprivate init(_ request: PresentationRequest, withAlternatives: Bool) {
    self.init(
      documents: request.documents.map { document in
        Document(
          docType: document.docType,
          elements: document.elements.flatMap { [$0.element] + (withAlternatives ? $0.alternatives : []) }
            .map { ($0.namespace, $0.identifier) },
          ageOver: document.ageThresholds)
      })
  }
}
