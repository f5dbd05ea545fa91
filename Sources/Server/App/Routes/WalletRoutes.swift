import Base
import Sessions

/// `/v1/wallet`: what wallets call by themselves, knowing nothing but an address (OpenID4VP 1.0, 5.10 and 8.2). Pages
/// have no business here: nothing of it is cross-origin.
enum WalletRoutes {
  static let all = [request, postedRequest, response]

  private static let requestPath = PathTemplate("/v1/wallet/{relying_party}/{session}/request")
  private static let requestType = "application/oauth-authz-req+jwt"
  private static let stateProblems: [Code] = [
    .sessionNotFound, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled, .sessionRedacted, .apiStoreUnavailable,
  ]

  private static let request = Route(
    method: .get, path: requestPath, name: "getWalletRequest",
    summary: "The signed request object of a session that waits for its answer.", access: .anyone,
    success: .content(requestType), problems: stateProblems + [.readerCertificateExpired]
  ) { call throws(ServiceError) in
    Answer(status: 200, mediaType: requestType, body: try await requestObject(call, nil))
  }

  private static let postedRequest = Route(
    method: .post, path: requestPath, name: "postWalletRequest",
    summary: "The same, with the wallet's nonce in it.", access: .anyone, body: .form(schema: "WalletRequestForm"),
    success: .content(requestType), problems: stateProblems + [.readerCertificateExpired]
  ) { call throws(ServiceError) in
    Answer(status: 200, mediaType: requestType, body: try await requestObject(call, try call.form()))
  }

  private static let response = Route(
    method: .post, path: PathTemplate("/v1/wallet/{relying_party}/{session}/response"), name: "postWalletResponse",
    summary: "Takes a wallet's answer or its error; what came of it is told to the relying party alone.",
    access: .anyone, body: .form(schema: "WalletResponseForm"), success: .json(200, "WalletReply"),
    problems: stateProblems
  ) { call throws(ServiceError) in
    let reply = try await call.application.service.receiveWalletResponse(
      try call.form(), session: call.parameters["session"] ?? "", of: call.parameters["relying_party"] ?? "")
    return Answer(reply)
  }

  private static func requestObject(
    _ call: RouteCall, _ parameters: @autoclosure () throws(ServiceError) -> JSON?
  ) async throws(ServiceError) -> [UInt8] {
    try await call.application.service.walletRequest(
      call.parameters["session"] ?? "", of: call.parameters["relying_party"] ?? "", parameters: try parameters())
  }
}
