import Base
import Sessions

enum SessionRoutes {
  private static let collection = "/v1/verification_sessions"
  private static let one = "/v1/verification_sessions/{id}"

  static let all: [Route] = [
    Route(
      .post, collection, "createVerificationSession", "Create a session",
      "Makes one request for each protocol. Give the requests and the client secret to your page or app.",
      access: .apiKey([.sessionsWrite]), body: .reading(CreateSessionBody.shape, RequestExample.creations),
      success: .json("VerificationSession", status: 201),
      problems: [
        .apiKeyUnavailable, .apiProtocolUnsupported, .apiTooManyAgeRequests, .apiOriginNotAllowed, .zkNotProvable,
        .zkCircuitsMissing,
        .apiOutsideRegistration, .readerCertificateExpired, .sessionRedacted, .apiSessionTooLarge, .apiQuotaExceeded,
      ], urgency: .deferrable
    ) { call throws(ServiceError) in
      try await call.service.createSession(call.body, as: call.authenticated(), idempotency: call.idempotency)
    },
    Route(
      .get, collection, "listVerificationSessions", "List the sessions",
      "Newest first and without results; requests and reports only if `expand[]` lists them. A page ends before its "
        + "limit at about 1 MiB: `has_more` is then true.", access: .apiKey([.sessionsWrite, .resultsRead]),
      query: SessionQuery.form.parameters, success: .json("VerificationSessionList"), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      try await call.service.sessions(query: call.query, as: call.authenticated())
    },
    Route(
      .get, one, "getVerificationSession", "Read a session",
      "An API key gets all members, and a waiting result with `expand[]=result`. A client secret gets the members "
        + "for a page.", access: .apiKeyOrClientSecret([.sessionsWrite, .resultsRead]),
      query: ReadQuery.form.parameters,
      success: .json("VerificationSession"), problems: [.sessionNotFound, .apiInvalidRequest, .responseCodeMismatch]
    ) { call throws(ServiceError) in
      try await call.service.session(call.id, query: call.query, as: call.authenticated())
    },
    Route(
      .post, one + "/submit", "submitVerificationSession", "Submit the wallet's response",
      "Consumes the challenge: a session accepts one response. A rejected response is a 200 with the status `failed`. "
        + "With an API key that has `results:read`, this reply contains the result. Later replies contain only "
        + "the retained values.",
      access: .apiKeyOrClientSecret([.sessionsWrite]), body: .reading(SubmitBody.shape, RequestExample.submissions),
      success: .json("VerificationSession"),
      problems: [
        .apiKeyUnavailable, .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired,
        .sessionCanceled,
        .sessionRedacted,
      ]
    ) { call throws(ServiceError) in
      try await call.service.submit(call.body, to: call.id, as: call.authenticated(), idempotency: call.idempotency)
    },
    Route(
      .post, one + "/cancel", "cancelVerificationSession", "Cancel a session",
      "Ends a session that has no response yet, optionally with the wallet's reason.",
      access: .apiKeyOrClientSecret([.sessionsWrite]),
      body: .reading(CancelBody.shape, isRequired: false, [RequestExample.cancellation]),
      success: .json("VerificationSession"),
      problems: [
        .sessionNotFound, .sessionExpired, .sessionCanceled, .sessionRedacted, .sessionWrongState,
        .apiProtocolUnsupported,
      ]
    ) { call throws(ServiceError) in
      try await call.service.cancel(call.id, call.body, as: call.authenticated(), idempotency: call.idempotency)
    },
    Route(
      .post, one + "/redact", "redactVerificationSession", "Redact a session",
      "Erases the session's data, except ids, times, status and codes.", access: .apiKey([.sessionsWrite]),
      body: .empty, success: .json("VerificationSession"), problems: [.sessionNotFound, .sessionRedacted]
    ) { call throws(ServiceError) in
      try await call.service.redact(call.id, as: call.authenticated(), idempotency: call.idempotency)
    },
    Route(
      .get, one + "/evidence", "getVerificationEvidence", "Read the evidence",
      "The sealed bundle of a verified session whose `evidence` is `kept`, for `mdoc verify bundle`.",
      access: .apiKey([.resultsRead]), success: .content(EvidenceBundle.mediaType),
      problems: [.sessionNotFound, .apiNotFound]
    ) { call throws(ServiceError) in
      try await call.service.evidence(of: call.id, as: call.authenticated())
    },
  ]

  static let verifications = [
    Route(
      .post, VerificationBody.path, "createVerification", "Verify a response that you received yourself",
      "For a stack that makes its own requests. Send the response, the values to which it is bound, and the request. "
        + "For a rejected response, the reply is 200 with the status `failed`. The server stores only the report and an "
        + "audit entry.",
      access: .apiKey([.verificationsWrite]), body: .reading(VerificationBody.shape, RequestExample.verifications),
      success: .json("Verification"),
      problems: [
        .apiTooManyAgeRequests, .zkNotProvable, .zkCircuitsMissing, .sessionAlreadyUsed, .apiQuotaExceeded,
        .apiKeyUnavailable,
      ]
    ) { call throws(ServiceError) in
      try await call.service.verify(call.body, as: call.authenticated(), idempotency: call.idempotency)
    }
  ]

  static let reports = [
    Route(
      .get, "/v1/verification_reports/{id}", "getVerificationReport", "Read a report",
      "The report of one attempt. It is immutable and contains no personal data. With `Accept: text/html` it is a page to "
        + "show and print.",
      access: .apiKey([.sessionsWrite, .resultsRead, .verificationsWrite]), success: .json("VerificationReport"),
      problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      let caller = try call.authenticated()
      var reply =
        call.prefersPage
        ? PageRoutes.page(of: try await call.service.reportRecord(call.id, as: caller))
        : try await call.service.report(call.id, as: caller)
      reply.headers.append(("Vary", "Accept"))
      return reply
    }
  ]
}

/// `/v1/events` and `/v1/webhook_deliveries`: events, and their deliveries to webhooks.
enum EventRoutes {
  private static let access = Access.apiKey([.sessionsWrite, .resultsRead])

  static let all: [Route] = [
    Route(
      .get, "/v1/events", "listEvents", "List the events", "The events of the last 30 days, newest first.",
      access: access, query: EventQuery.form.parameters, success: .json("EventList"), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      try await call.service.events(query: call.query, as: call.authenticated())
    },
    Route(
      .get, "/v1/events/{id}", "getEvent", "Read an event", access: access, success: .json("Event"),
      problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try await call.service.event(call.id, as: call.authenticated())
    },
    Route(
      .get, "/v1/webhook_deliveries", "listWebhookDeliveries", "List deliveries",
      "Lists deliveries, by default dead ones, newest events first.", access: access,
      query: DeliveryQuery.form.parameters, success: .json("WebhookDeliveryList"), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      try await call.service.webhookDeliveries(query: call.query, as: call.authenticated())
    },
    Route(
      .get, "/v1/usage", "getUsage", "Read the usage", "The relying party's usage of the store, with its quota.",
      access: access, success: .json("Usage")
    ) { call throws(ServiceError) in
      try await call.service.usage(as: call.authenticated())
    },
    Route(
      .post, "/v1/webhook_deliveries/{id}/retry", "retryWebhookDelivery", "Retry a dead delivery",
      "Restarts a dead delivery. Any other delivery stays unchanged.", access: access, body: .empty,
      success: .json("WebhookDelivery"), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try await call.service.retryWebhookDelivery(call.id, as: call.authenticated(), idempotency: call.idempotency)
    },
  ]
}

/// `/v1/audit`: the audit entries of all attempts as JSON Lines. `mdoc audit export` writes the same form.
enum AuditRoutes {
  static let all: [Route] = [
    Route(
      .get, "/v1/audit/entries", "listAuditEntries", "List the audit entries of a node",
      "JSON Lines, oldest first. The last line is the head of the chain. If it is beyond the last entry, more "
        + "entries follow. "
        + "With `admin` only, lists the entries of the key's own relying party.",
      access: .apiKey([.admin, .auditReadAll]),
      query: AuditQuery.form.parameters, success: .content(AuditLine.mediaType), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      try await call.service.auditEntries(query: call.query, as: call.authenticated())
    },
    Route(
      .get, "/v1/audit/heads", "listAuditHeads", "List the heads of the audit chains",
      "JSON Lines. Store them where the server's operators cannot change them. With `admin` only, lists the heads of "
        + "its own relying party.", access: .apiKey([.admin, .auditReadAll]), success: .content(AuditLine.mediaType)
    ) { call throws(ServiceError) in
      try await call.service.auditHeads(as: call.authenticated())
    },
  ]
}

/// `/v1/wallet`: operations that wallets call themselves. They need no API key: a wallet has only the URL (OpenID4VP
/// 1.0, 5.10 and 8.2). Pages may call these operations only from the relying party's `wallet_origins`.
enum WalletRoutes {
  static let path = "/v1/wallet/{relying_party}/{session}/"
  private static let requestType = "application/oauth-authz-req+jwt"
  private static let stateProblems: [Code] = [
    .sessionNotFound, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled, .sessionRedacted, .apiStoreUnavailable,
    .apiKeyUnavailable,
  ]

  static let all: [Route] = [
    Route(
      .get, path + "request", "getWalletRequest", "Read the request object",
      "For wallets: the signed request object of a session that waits for a response.", access: .anyone,
      success: .content(requestType), problems: stateProblems + [.readerCertificateExpired]
    ) { call throws(ServiceError) in
      Reply(requestType, try await requestObject(call, nil))
    },
    Route(
      .post, path + "request", "postWalletRequest", "Post wallet metadata for the request object",
      "For wallets: the request object with the wallet's nonce in it, and encrypted if the wallet sends a key.",
      access: .anyone, body: .form(PostedByWallet.schema, .walletRequest), success: .content(requestType),
      problems: stateProblems + [.readerCertificateExpired, .apiWalletUnsupported]
    ) { call throws(ServiceError) in
      // Check the size before decoding the body, since anyone may post. A wallet's metadata is short.
      guard call.request.body.count <= Limits.walletRequestBytes else {
        throw ServiceError(.apiBodyTooLarge, "The body has more than \(Limits.walletRequestBytes) bytes.")
      }
      return Reply(requestType, try await requestObject(call, try call.form()))
    },
    Route(
      .post, path + "response", "postWalletResponse", "Post the wallet's response",
      "For wallets: accepts the response or the error. Only the relying party gets the result. The wallet gets at most "
        + "the reason for a rejection, with status 400 (`wallet_feedback`).", access: .anyone,
      body: .form(SubmitBody.postedSchema, .walletResponse), success: .json("WalletReply"), problems: stateProblems
    ) { call throws(ServiceError) in
      try await call.service.receiveWalletResponse(
        try call.form(), session: call.parameters["session"] ?? "", of: call.parameters["relying_party"] ?? "")
    },
    ReaderRevocationList.route,
  ]

  private static func requestObject(
    _ call: RouteCall, _ parameters: @autoclosure () throws(ServiceError) -> JSON?
  ) async throws(ServiceError) -> [UInt8] {
    let name = call.parameters["session"] ?? ""
    let request = try await call.service.walletRequest(
      name, of: call.parameters["relying_party"] ?? "", parameters: try parameters())
    if let session = WalletPath(name)?.session { call.application.state.waits.noteFetch(session) }
    return request
  }
}

/// The revocation list for the readers' certificates that `mdoc init` makes.
package enum ReaderRevocationList {
  /// Below `public_url`.
  package static let path = "/reader.crl"
  private static let mediaType = "application/pkix-crl"

  static let route = Route(
    .get, path, "getReaderRevocationList", "Read the readers' revocation list",
    "The revocation list of the authority that certified the readers (RFC 5280; RFC 2585).", access: .anyone,
    success: .content(mediaType), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard let list = call.application.readerCRL else {
      throw ServiceError(.apiNotFound, "No `reader_crl` is configured.")
    }
    return Reply(mediaType, list)
  }
}
