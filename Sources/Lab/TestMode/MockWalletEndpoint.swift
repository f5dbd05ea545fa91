import App
import Base
import Mdoc
import Mock
import Sessions

/// The mock wallet behind `POST /v1/test/mock_responses`: test mode's phone.
struct MockWalletEndpoint: Sendable {
  let authority: MockAuthority
  /// Nil for a wallet that makes no zero-knowledge proofs.
  var prover: MockProver?

  /// An `Idempotency-Key` is accepted and ignored: an answer changes no state, and within the same second it is the
  /// same answer.
  var route: Route {
    Route(
      method: .post, path: PathTemplate("/v1/test/mock_responses"), name: "createMockResponse",
      summary: "A mock wallet's answer to a session, right or wrong in a named way, ready to submit.",
      access: .apiKey([.sessionsWrite]), body: .json(schema: "CreateMockResponse"), success: .json(200, "SubmitAnswer"),
      problems: [
        .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
        .sessionRedacted, .readerCertificateExpired, .apiProtocolUnsupported, .apiNotFound,
      ], respond: respond)
  }

  private func respond(_ call: RouteCall) async throws(ServiceError) -> Answer {
    let input = try MockResponseInput(parsing: call.body)
    let pending = try await call.application.service.pendingRequest(
      input.session, by: input.protocolName, as: call.authenticated())
    guard ProtocolFamily(ofProtocol: pending.protocolName) != .proximity else {
      throw ServiceError(.apiProtocolUnsupported, "The mock wallet does not answer `\(pending.protocolName)`.")
    }
    let object = try await requestObject(pending, call)
    let data: JSON
    do {
      let wallet = MockWallet(authority: authority, documents: try input.documents(), prover: prover)
      data = try answer(pending, object, by: wallet, input, at: call.application.clock())
    } catch let error as MockError {
      throw input.fault(error)
    } catch {
      throw ServiceError(.apiInternal, "The mock wallet failed.")
    }
    var reply = Answer(json: ["protocol": .string(pending.protocolName), "data": data])
    reply.session = SessionID(input.session)?.text
    return reply
  }

  /// The request object that a wallet would fetch; nil if the protocol sends the request itself and not its address.
  private func requestObject(_ pending: PendingRequest, _ call: RouteCall) async throws(ServiceError) -> [UInt8]? {
    guard ProtocolFamily(ofProtocol: pending.protocolName) == .redirect else { return nil }
    return try await call.application.service.walletRequest(pending.session.text, of: pending.relyingParty.id)
  }

  private func answer(
    _ pending: PendingRequest, _ requestObject: [UInt8]?, by wallet: MockWallet, _ input: MockResponseInput,
    at now: Timestamp
  ) throws -> JSON {
    let request = input.restricted(MockRequest(pending.request))
    // Unless the person withholds something, the wallet answers what it reads in the request itself.
    let agreed = input.isRestricted ? request : nil
    if let requestObject {
      return try wallet.answer(requestObject: requestObject, request: agreed, variant: input.variant, at: now).data
    }
    if let origin = pending.origin, ProtocolFamily(ofProtocol: pending.protocolName) == .web {
      return try wallet.answer(
        digitalCredential: pending.protocolName, data: pending.data, origin: origin, request: agreed,
        variant: input.variant, at: now
      ).data
    }
    let merchant = pending.data["merchant_identifier"]?.string
    guard let apple = pending.relyingParty.apple.first(where: { $0.merchantID == merchant }),
      let recipient = apple.encryptionKeys.first,
      let nonce = pending.data["nonce"]?.string.flatMap(Base64.decode)
    else { throw MockError.unreadableRequest("\(pending.protocolName) without a nonce or a merchant") }
    let session = MockAppleSession(
      nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID, recipientKey: recipient.publicKey)
    let answer = try wallet.answerApple(request, session: session, variant: input.variant, at: now)
    return ["encrypted_data": .string(Base64.encode(answer.bytes))]
  }
}

extension MockRequest {
  fileprivate init(_ request: PresentationRequest) {
    self.init(
      documents: request.documents.map { document in
        Document(
          docType: document.docType,
          elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
          ageOver: document.ageThresholds)
      })
  }
}
