import Base

extension VerificationService {
  private func eventRendering(for caller: Caller) -> EventRendering {
    EventRendering(isLive: mode.isLive, showsMetadata: caller.relyingParty.policies.eventsHaveMetadata)
  }

  /// `GET /v1/events`: the changes of a relying party's sessions, newest first.
  package func events(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    let page = try await page(EventQuery.form, query, of: caller) { party, query throws(StoreError) in
      try await store.events(of: party, query)
    }
    return Reply(json: eventRendering(for: caller).list(page))
  }

  /// `GET /v1/events/{id}`.
  package func event(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    let unknown = ServiceError(.apiNotFound, "No such event.")
    guard let id = EventID(id) else { throw unknown }
    let event = try await stored { store throws(StoreError) in try await store.event(id, of: caller.relyingParty.id) }
    guard let event else { throw unknown }
    return Reply(json: eventRendering(for: caller).json(event))
  }

  /// `GET /v1/webhook_deliveries`: deliveries of one event, or of one status (by default dead letters).
  package func webhookDeliveries(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    let page = try await page(DeliveryQuery.form, query, of: caller) { party, query throws(StoreError) in
      try await store.deliveries(of: party, query)
    }
    return Reply(json: eventRendering(for: caller).list(page))
  }

  /// `POST /v1/webhook_deliveries/{id}/retry`: retries a dead letter. Leaves any other delivery unchanged.
  package func retryWebhookDelivery(
    _ id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller) { _ throws(ServiceError) in
      let unknown = ServiceError(.apiNotFound, "No such delivery.")
      guard let id = DeliveryID(id) else { throw unknown }
      let retry = try await stored { store throws(StoreError) in
        try await store.retryDelivery(id, of: caller.relyingParty.id, at: clock())
      }
      switch retry {
      case .begun(let delivery), .refused(let delivery): return Reply(json: eventRendering(for: caller).json(delivery))
      case .notFound: throw unknown
      }
    }
  }

  package func deadLetters(of relyingParty: String, limit: Int) async throws(ServiceError) -> [DeliveryRecord] {
    try await stored { store throws(StoreError) in
      try await store.deliveries(of: relyingParty, DeliveryQuery(limit: limit))?.entries ?? []
    }
  }
}

extension EventQuery {
  package static let form = Query(
    EventQuery(), .limit("events") { $0.limit = $1 },
    .after("events", like: EventID.pattern, "The id of the last entry on the previous page.", { EventID($0) }) {
      $0.startingAfter = $1
    },
    .choice(EventType.self, "type", "EventType", "Only events of this type.") { $0.type = $1 })
}

extension DeliveryQuery {
  package static let form = Query(
    DeliveryQuery(), .limit("deliveries") { $0.limit = $1 },
    .after("deliveries", like: DeliveryID.pattern, "The id of the last entry on the previous page.", { DeliveryID($0) })
    {
      $0.startingAfter = $1
    },
    .choice(
      DeliveryStatus.self, "status", "WebhookDeliveryStatus",
      "Deliveries of this status; by default `dead`, or any with `event`."
    ) { $0.status = $1 },
    .value(
      "event", .text(like: EventID.pattern), "Only deliveries of this event.", rule: "must be an event's id",
      { EventID($0) }, { $0.event = $1 }))
}

/// Reads audit entries and heads. The scope `admin` covers the key's own relying party. The scope `audit:read_all`
/// covers all. One relying party's entries do not form a chain. A full export contains these entries and the head at
/// the last of them.
extension VerificationService {
  /// `GET /v1/audit/entries`: a page of one node's entries and the node's head, as JSON Lines (`AuditLine`).
  package func auditEntries(query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    let query = try AuditQuery.form.read(query)
    guard let node = query.node else { throw AuditQuery.form.refusal(of: "node") }
    return try await lines(for: caller) { whose throws(StoreError) in
      let page = try await store.auditEntries(of: node, whose, after: query.after, limit: query.limit)
      let head = page.head.map { [AuditLine.head($0)] } ?? []
      return page.links.map { .entry($0) } + head
    }
  }

  /// `GET /v1/audit/heads`: JSON Lines.
  package func auditHeads(as caller: Caller) async throws(ServiceError) -> Reply {
    try await lines(for: caller) { whose throws(StoreError) in try await store.auditHeads(of: whose).map { .head($0) } }
  }

  /// Reads the heads for the metrics and the status page.
  /// - Parameter only: reads each chain's head at this relying party's last entry; nil reads the heads of all chains.
  package func auditHeads(of only: RelyingParty? = nil) async throws(ServiceError) -> [AuditHead] {
    try await stored { store throws(StoreError) in try await store.auditHeads(of: only?.id) }
  }

  /// Reads lines for all relying parties with `audit:read_all`, otherwise for the caller's own.
  private func lines(
    for caller: Caller, _ read: (String?) async throws(StoreError) -> [AuditLine]
  ) async throws(ServiceError) -> Reply {
    let party = caller.relyingParty.id
    let lines = try await lists.take(party) { () async throws(StoreError) in
      try await read(caller.has(.auditReadAll) ? nil : party)
    }
    return Reply(AuditLine.mediaType, AuditLine.bytes(of: lines))
  }
}

package struct AuditQuery: Sendable {
  var node: NodeName?
  var after: Int64 = 0
  var limit = Limits.largestAuditPage

  package static let form = Query(
    AuditQuery(),
    .value(
      "node", .text(like: "^[a-z0-9.-]{1,63}$"), "The node's name.", isRequired: true,
      rule: "must be the name of a node, as listed by `/v1/audit/heads`", { NodeName($0) }, { $0.node = $1 }),
    .whole(
      "after", 0...Int64.max, "Entries after this sequence; 0 by default.",
      rule: "must be the sequence of an entry, or 0", { $0.after = $1 }),
    .limit("entries", most: Limits.largestAuditPage, standard: Limits.largestAuditPage) { $0.limit = $1 })
}
