import Base
import Sessions

/// `/v1/events` and `/v1/webhook_deliveries`: the events, and their deliveries to webhooks.
enum EventRoutes {
  static let all: [Route] = [list, get, deliveries, retry]

  private static let access = Access.apiKey([.sessionsWrite, .resultsRead])

  private static func page(_ what: String, ids: String) -> [Route.QueryParameter] {
    [
      .init(
        name: "limit", summary: "\(what) on the page. By default \(Limits.pageSize).",
        schema: .number(1...Int64(Limits.largestPage))),
      .init(
        name: "starting_after", summary: "The last one of the page before.", schema: .text(like: ids)),
    ]
  }

  private static let list = Route(
    method: .get, path: PathTemplate("/v1/events"), name: "listEvents", summary: "List the events",
    description: "The events of the last 30 days, newest first.", access: access,
    query: page("Events", ids: EventID.pattern) + [
      .init(
        name: "type", summary: "Events of this type only.",
        schema: .oneOf("EventType", EventType.allCases.map(\.rawValue)))
    ], success: .json(200, "EventList"), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.events(query: call.query, as: call.authenticated()))
  }

  private static let get = Route(
    method: .get, path: PathTemplate("/v1/events/{id}"), name: "getEvent", summary: "Read an event",
    access: access, success: .json(200, "Event"), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.event(call.id, as: call.authenticated()))
  }

  private static let deliveries = Route(
    method: .get, path: PathTemplate("/v1/webhook_deliveries"), name: "listWebhookDeliveries",
    summary: "List deliveries of one status",
    description: "By default the dead ones, those of the newest events first.",
    access: access,
    query: page("Deliveries", ids: DeliveryID.pattern) + [
      .init(
        name: "status", summary: "Deliveries of this status; `dead` by default.",
        schema: .oneOf("WebhookDeliveryStatus", DeliveryStatus.allCases.map(\.rawValue)))
    ], success: .json(200, "WebhookDeliveryList"), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.webhookDeliveries(query: call.query, as: call.authenticated()))
  }

  private static let retry = Route(
    method: .post, path: PathTemplate("/v1/webhook_deliveries/{id}/retry"), name: "retryWebhookDelivery",
    summary: "Retry a dead delivery",
    description: "Begins a dead delivery again. One that is not dead stays as it is.", access: access, body: .empty,
    success: .json(200, "WebhookDelivery"), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    Answer(
      try await call.application.service.retryWebhookDelivery(
        call.id, as: call.authenticated(), idempotency: call.idempotency))
  }
}

/// `/v1/audit`: the audit entries of all attempts, as JSON Lines, in the form that `mdoc audit export` writes.
enum AuditRoutes {
  static let all = [entries, heads]

  private static let entries = Route(
    method: .get, path: PathTemplate("/v1/audit/entries"), name: "listAuditEntries",
    summary: "List the audit entries of a node",
    description:
      "JSON Lines, oldest first. The last line is the head of the chain: if that is beyond the last entry, there are more. "
      + "With `admin` only, the entries of the key's own relying party.",
    access: .apiKey([.admin, .auditReadAll]),
    query: [
      .init(
        name: "node", summary: "The node's name.",
        schema: .text(like: "^[a-z0-9.-]{1,63}$"), isRequired: true),
      .init(
        name: "after", summary: "Entries after this sequence; 0 by default.",
        schema: .number(0...Int64.max)),
      .init(
        name: "limit", summary: "Entries on the page. By default \(Limits.largestAuditPage).",
        schema: .number(1...Int64(Limits.largestAuditPage))),
    ], success: .content(AuditLine.mediaType), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    let lines = try await call.application.service.auditEntries(query: call.query, as: call.authenticated())
    return Answer(status: 200, mediaType: AuditLine.mediaType, body: lines)
  }

  private static let heads = Route(
    method: .get, path: PathTemplate("/v1/audit/heads"), name: "listAuditHeads",
    summary: "List the heads of the audit chains",
    description:
      "JSON Lines. Keep them where the server's operators cannot reach. With `admin` only, the heads of the own relying "
      + "party's last entries.",
    access: .apiKey([.admin, .auditReadAll]), success: .content(AuditLine.mediaType)
  ) { call throws(ServiceError) in
    let lines = try await call.application.service.auditHeads(as: call.authenticated())
    return Answer(status: 200, mediaType: AuditLine.mediaType, body: lines)
  }
}
