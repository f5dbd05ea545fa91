import App
import Base
import Mock
import Sessions

/// `POST /v1/test/verification_sessions/{id}/simulate`: ends a session in place of a person with a wallet. The mock
/// wallet's response follows the normal path, so the session, its events and the return are real.
struct SimulatedOutcome: Equatable {
  enum Outcome: String, CaseIterable, Sendable { case verified, failed, canceled, expired }

  let outcome: Outcome
  let variant: String?
  let code: ResponseCodeHash?

  private static let shape = Shape.object(
    "SimulateOutcome", "The simulated end of a session.", SimulatedOutcome.init,
    Field("outcome", \.outcome, .choice("SimulatedOutcome", "The session's status at the end."), "The status."),
    .optional(
      "variant", \.variant, MockResponseInput.variants,
      "With `failed`: the response's deviation. By default its device signature is wrong."),
    .optional(
      PostedParameters.codeHash, \.code, .responseCodeHash,
      "The SHA-256 of the page's own response code, as in a submit."))

  private static let example = RequestExample("verified", "A verified person.", ["outcome": "verified"])

  static func route(_ endpoint: MockWalletEndpoint) -> Route {
    Route(
      .post, "/v1/test/verification_sessions/{id}/simulate", "simulateOutcome", "End a session without a wallet",
      "For a page in test mode, with the session's client secret: the mock wallet responds, declines, or lets the time "
        + "pass.", access: .apiKeyOrClientSecret([.sessionsWrite]), body: .reading(shape, [example]),
      success: .json("VerificationSession"), problems: MockWalletEndpoint.problems + [.sessionWrongState]
    ) { call throws(ServiceError) in
      let input = try shape.value(of: call.body)
      let (caller, id) = (try call.authenticated(), call.id)
      switch input.outcome {
      case .verified: try await input.respond("good", by: endpoint, call)
      case .failed: try await input.respond(input.variant ?? "device-signature-bit-flipped", by: endpoint, call)
      case .canceled: _ = try await call.service.cancel(id, ["reason": "declined"], as: caller)
      case .expired: try await call.service.expire(id, as: caller)
      }
      return try await call.service.session(id, as: caller)
    }
  }

  /// Submits the mock wallet's response as the page or the wallet itself does.
  private func respond(
    _ variant: String, by endpoint: MockWalletEndpoint, _ call: RouteCall
  ) async throws(ServiceError) {
    let caller = try call.authenticated()
    let id = call.id
    let pending = try await call.service.pendingRequest(id, as: caller)
    // The wallet follows the page's link. The link's addresses contain the session's id, followed by the code's hash.
    let link = pending.data["request_uri"]?.string ?? pending.data["authorization_request"]?.string
    let ownLink = code.flatMap { code in link?.replacing(id, with: "\(id).\(code.text)") }
    let made: OpenedMockResponse
    do {
      made = try await endpoint.respond(
        call, MockResponseInput(session: id, requestURI: ownLink, variantName: variant))
    } catch let error where error.code == .apiInvalidRequest {
      // The body is valid, but the mock wallet cannot make this response for the session.
      throw ServiceError(.sessionWrongState, error.pointers.first?.detail ?? error.detail)
    }
    guard let name = made.submitted["protocol"]?.string, let data = made.submitted["data"] else { return }
    if ProtocolFamily(ofProtocol: name) == .redirect {
      let path = id + (code.map { "." + $0.text } ?? "")
      _ = try await call.service.receiveWalletResponse(data, session: path, of: caller.relyingParty.id)
    } else {
      let own = if case .clientSecret = caller { code } else { ResponseCodeHash?.none }
      let body = JSON.members([
        "protocol": .string(name), "data": data, PostedParameters.codeHash: own.map { .string($0.text) },
      ])
      _ = try await call.service.submit(body, to: id, as: caller)
    }
  }
}
