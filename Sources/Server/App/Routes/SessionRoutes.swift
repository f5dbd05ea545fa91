import Base
import Sessions

/// `/v1/verification_sessions`: the sessions and what can be done with one.
enum SessionRoutes {
  private static let collection = PathTemplate("/v1/verification_sessions")
  private static let one = PathTemplate("/v1/verification_sessions/{id}")

  static let all: [Route] = [create, list, get, submit, cancel, redact, evidence]

  private static let create = Route(
    method: .post, path: collection, name: "createVerificationSession", summary: "Create a session",
    description: "Makes one request for each protocol. Give the requests and the client secret to your page or app.",
    access: .apiKey([.sessionsWrite]),
    body: .reading(CreateSessionBody.shape, RequestExample.creations), success: .json(201, "VerificationSession"),
    problems: [
      .apiProtocolUnsupported, .apiTooManyAgeRequests, .apiOriginNotAllowed, .zkNotProvable, .zkCircuitsMissing,
      .apiOutsideRegistration, .readerCertificateExpired, .sessionRedacted, .apiSessionTooLarge, .apiQuotaExceeded,
    ], urgency: .deferrable
  ) { call throws(ServiceError) in
    Answer(
      try await call.application.service.createSession(
        call.body, as: call.authenticated(), idempotency: call.idempotency))
  }

  private static let list = Route(
    method: .get, path: collection, name: "listVerificationSessions", summary: "List the sessions",
    description:
      "Newest first and without results; requests and reports only if `expand[]` asks for them. A page ends before its "
      + "limit at about 1 MiB: `has_more` is then true.",
    access: .apiKey([.sessionsWrite, .resultsRead]),
    query: [
      .init(
        name: "limit", summary: "Sessions on the page. By default \(Limits.pageSize).",
        schema: .number(1...Int64(Limits.largestPage))),
      .init(
        name: "starting_after", summary: "The last session of the page before.",
        schema: .text(like: SessionID.pattern)),
      .init(
        name: "status", summary: "Sessions of this status only.",
        schema: .oneOf("SessionStatus", SessionStatus.allCases.map(\.rawValue))),
      .init(
        name: "expand[]", summary: "What to read besides, each once.",
        schema: [
          "type": "array", "uniqueItems": true,
          "items": Schema.oneOf("SessionPart", SessionPart.allCases.map(\.rawValue)).described(
            "A part of each session."
          ).json,
        ]),
    ], success: .json(200, "VerificationSessionList"), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.sessions(query: call.query, as: call.authenticated()))
  }

  private static let get = Route(
    method: .get, path: one, name: "getVerificationSession", summary: "Read a session",
    description:
      "An API key gets all of it, with `expand[]=result` also a waiting result. A client secret gets the members for a page.",
    access: .apiKeyOrClientSecret([.sessionsWrite, .resultsRead]),
    query: [
      .init(
        name: "expand[]", summary: "What to read besides.",
        schema: Schema.oneOf("SessionExpansion", GetSessionInput.parts)),
      .init(
        name: "response_code",
        summary:
          "What the browser that answered brought back: needed to read the result of a session that was reached by a link.",
        schema: .text),
    ], success: .json(200, "VerificationSession"),
    problems: [.sessionNotFound, .apiInvalidRequest, .responseCodeMismatch]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.session(call.id, query: call.query, as: call.authenticated()))
  }

  private static let submit = Route(
    method: .post, path: PathTemplate("/v1/verification_sessions/{id}/submit"), name: "submitVerificationSession",
    summary: "Submit the wallet's response",
    description:
      "Consumes the challenge: a session takes one response. A rejected response is a 200 with the status `failed`. "
      + "With an API key that has `results:read` the result is in this reply, and later no more than the policy retains.",
    access: .apiKeyOrClientSecret([.sessionsWrite]), body: .reading(SubmitBody.shape, RequestExample.submissions),
    success: .json(200, "VerificationSession"),
    problems: [
      .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
      .sessionRedacted,
    ]
  ) { call throws(ServiceError) in
    Answer(
      submitted: try await call.application.service.submit(
        call.body, to: call.id, as: call.authenticated(), idempotency: call.idempotency))
  }

  private static let cancel = Route(
    method: .post, path: PathTemplate("/v1/verification_sessions/{id}/cancel"), name: "cancelVerificationSession",
    summary: "Cancel a session",
    description: "Ends a session that has no response yet; with a reason, in the wallet's words.",
    access: .apiKeyOrClientSecret([.sessionsWrite]),
    body: .reading(CancelBody.shape, isRequired: false, [RequestExample.cancellation]),
    success: .json(200, "VerificationSession"),
    problems: [
      .sessionNotFound, .sessionExpired, .sessionCanceled, .sessionRedacted, .sessionWrongState,
      .apiProtocolUnsupported,
    ]
  ) { call throws(ServiceError) in
    Answer(
      try await call.application.service.cancel(
        call.id, call.body, as: call.authenticated(), idempotency: call.idempotency))
  }

  private static let redact = Route(
    method: .post, path: PathTemplate("/v1/verification_sessions/{id}/redact"), name: "redactVerificationSession",
    summary: "Redact a session",
    description: "Erases everything of the session but ids, times, status and codes.",
    access: .apiKey([.sessionsWrite]),
    body: .empty, success: .json(200, "VerificationSession"), problems: [.sessionNotFound, .sessionRedacted]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.redact(call.id, as: call.authenticated(), idempotency: call.idempotency))
  }

  private static let evidence = Route(
    method: .get, path: PathTemplate("/v1/verification_sessions/{id}/evidence"), name: "getVerificationEvidence",
    summary: "Read the evidence",
    description: "The sealed bundle of a verified session whose `evidence` is `kept`, for `mdoc verify bundle`.",
    access: .apiKey([.resultsRead]), success: .content(EvidenceBundle.mediaType),
    problems: [.sessionNotFound, .apiNotFound]
  ) { call throws(ServiceError) in
    let bundle = try await call.application.service.evidence(of: call.id, as: call.authenticated())
    var answer = Answer(status: 200, mediaType: EvidenceBundle.mediaType, body: bundle)
    answer.session = SessionID(call.id)?.text
    return answer
  }
}

/// `/v1/verification_reports`.
enum ReportRoutes {
  static let all = [get]

  private static let get = Route(
    method: .get, path: PathTemplate("/v1/verification_reports/{id}"), name: "getVerificationReport",
    summary: "Read a report",
    description: "The report of one attempt. It is immutable and holds no personal data.",
    access: .apiKey([.sessionsWrite, .resultsRead]), success: .json(200, "VerificationReport"),
    problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.report(call.id, as: call.authenticated()))
  }
}

/// `/v1/wallet`: operations that wallets call by themselves, knowing only an address (OpenID4VP 1.0, 5.10 and 8.2).
/// Pages may call them only from the `wallet_origins` of the relying party.
enum WalletRoutes {
  static let all = [request, postedRequest, response, ReaderRevocationList.route]

  static let path = "/v1/wallet/{relying_party}/{session}/"
  private static let requestPath = PathTemplate(path + "request")
  private static let requestType = "application/oauth-authz-req+jwt"
  private static let stateProblems: [Code] = [
    .sessionNotFound, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled, .sessionRedacted, .apiStoreUnavailable,
  ]

  private static let request = Route(
    method: .get, path: requestPath, name: "getWalletRequest", summary: "Read the request object",
    description: "For wallets: the signed request object of a session that waits for a response.", access: .anyone,
    success: .content(requestType), problems: stateProblems + [.readerCertificateExpired]
  ) { call throws(ServiceError) in
    Answer(status: 200, mediaType: requestType, body: try await requestObject(call, nil))
  }

  private static let postedRequest = Route(
    method: .post, path: requestPath, name: "postWalletRequest", summary: "Post wallet metadata for the request object",
    description:
      "For wallets: the request object with the wallet's nonce in it, and encrypted if the wallet sends a key.",
    access: .anyone,
    body: .form(PostedByWallet.schema, .walletRequest), success: .content(requestType),
    problems: stateProblems + [.readerCertificateExpired, .apiWalletUnsupported]
  ) { call throws(ServiceError) in
    // Before it is decoded: anybody may post, and what a wallet says of itself is short.
    guard call.request.body.count <= Limits.walletRequestBytes else {
      throw ServiceError(.apiBodyTooLarge, "The body has more than \(Limits.walletRequestBytes) bytes.")
    }
    return Answer(status: 200, mediaType: requestType, body: try await requestObject(call, try call.form()))
  }

  private static let response = Route(
    method: .post, path: PathTemplate(path + "response"), name: "postWalletResponse",
    summary: "Post the wallet's response",
    description:
      "For wallets: takes the response or the error. The relying party learns what came of it; the wallet, by status 400, at "
      + "most why its response was refused (`wallet_feedback`).",
    access: .anyone, body: .form(SubmitBody.postedSchema, .walletResponse), success: .json(200, "WalletReply"),
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

/// The revocation list that the certificates of `mdoc init`'s readers name.
package enum ReaderRevocationList {
  /// Below `public_url`.
  package static let path = "/reader.crl"
  private static let mediaType = "application/pkix-crl"

  static let route = Route(
    method: .get, path: PathTemplate(path), name: "getReaderRevocationList",
    summary: "Read the readers' revocation list",
    description: "The revocation list of the authority that certified the readers (RFC 5280; RFC 2585).",
    access: .anyone,
    success: .content(mediaType), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard let list = call.application.readerCRL else {
      throw ServiceError(.apiNotFound, "No `reader_crl` is configured.")
    }
    return Answer(status: 200, mediaType: mediaType, body: list)
  }
}
