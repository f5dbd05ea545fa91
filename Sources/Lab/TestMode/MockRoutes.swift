import App
import Base
import Sessions

/// `/v1/test`: what only test mode has.
enum MockRoutes {
  /// An `Idempotency-Key` is taken and has nothing to do: an answer changes no state, and for the same second it is
  /// the same answer.
  static func mockResponse(_ wallet: MockWalletEndpoint) -> Route {
    Route(
      method: .post, path: PathTemplate("/v1/test/mock_responses"), name: "createMockResponse",
      summary: "A mock wallet's answer to a session, right or wrong in a named way, ready to submit.",
      access: .apiKey([.sessionsWrite]), body: .json(schema: "CreateMockResponse"), success: .json(200, "SubmitAnswer"),
      problems: [
        .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
        .sessionRedacted, .readerCertificateExpired, .apiProtocolUnsupported, .apiNotFound,
      ]
    ) { call throws(ServiceError) in
      try await wallet.respond(call)
    }
  }
}
