import Base
import Sessions

extension PostgreSQLStore {
  /// Nodes that call this at the same time share the events between them: each skips the rows that another has locked.
  package func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    let wishes = subscriptions.flatMap { subscription in subscription.types.map { (subscription.address, $0) } }
    return try await pool.perform { connection throws(StoreError) in
      try connection.first(
        """
        WITH new AS MATERIALIZED (SELECT seq FROM events WHERE NOT is_distributed
          ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED),
        taken AS (UPDATE events SET is_distributed = true FROM new WHERE events.seq = new.seq
          RETURNING events.seq, relying_party, type),
        made AS (INSERT INTO deliveries (event, endpoint, relying_party, status, attempts, begun, due)
          SELECT seq, endpoint, relying_party, 'pending', 0, $2, $2
          FROM taken JOIN unnest($3, $4, $5) AS wishes (relying_party, endpoint, type) USING (relying_party, type))
        SELECT count(*) FROM taken
        """, .integer(Int64(limit)), .time(now), .texts(wishes.map(\.0.relyingParty)),
        .texts(wishes.map(\.0.endpoint)), .texts(wishes.map(\.1.status.rawValue))
      ) { Int($0.integer(0)) } ?? 0
    }
  }

  /// Claims for all quotas in one statement, and skips deliveries that another node is claiming at this moment.
  package func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    let rows = try await pool.perform { connection throws(StoreError) in
      try connection.rows(
        """
        WITH ready AS MATERIALIZED (
          SELECT event, endpoint, place, was FROM unnest($1, $2, $3) WITH ORDINALITY AS quota (party, target, most, place)
          CROSS JOIN LATERAL (SELECT event, endpoint, due AS was FROM deliveries
            WHERE relying_party = party AND endpoint = target AND status = 'pending' AND due <= $4
            ORDER BY due LIMIT most FOR UPDATE SKIP LOCKED) AS found
          ORDER BY place, was LIMIT $5),
        claimed AS (UPDATE deliveries SET attempts = attempts + 1, due = $6 FROM ready
          WHERE deliveries.event = ready.event AND deliveries.endpoint = ready.endpoint
          RETURNING deliveries.*, place, was)
        SELECT \(DeliveryRow.columns) FROM claimed AS deliveries JOIN events ON events.seq = deliveries.event
        ORDER BY place, was
        """, .texts(quotas.map(\.address.relyingParty)), .texts(quotas.map(\.address.endpoint)),
        .integers(quotas.map { Int64($0.limit) }), .time(now), .integer(Int64(limit)),
        .time(now + Limits.deliveryLease), read: DeliveryRow.init)
    }
    var records: [DeliveryRecord] = []
    for row in rows { records.append(try row.record()) }
    return records
  }

  package func recordDelivery(
    _ claimed: DeliveryRecord, _ result: AttemptResult
  ) async throws(StoreError) -> Bool {
    let (status, due, fault): (DeliveryStatus, Timestamp, DeliveryFault?) =
      switch result {
      case .delivered: (.delivered, claimed.due, nil)
      case .retry(let time, let fault): (.pending, time, fault)
      case .dead(let fault): (.dead, claimed.due, fault)
      }
    return try await pool.perform { connection throws(StoreError) in
      let changed = try connection.run(
        """
        UPDATE deliveries SET status = $1, due = $2, fault = $3, fault_status = $4
        WHERE event = (SELECT seq FROM events WHERE session_id = $5 AND type = $6) AND endpoint = $7
          AND status = 'pending' AND attempts = $8 AND due = $9
        """, .text(status.rawValue), .time(due), .text(fault?.reason.rawValue),
        .integer(fault?.httpStatus.map(Int64.init)), .text(claimed.event.id.session.text),
        .type(claimed.event.id.type), .text(claimed.endpoint), .integer(Int64(claimed.attempts)), .time(claimed.due))
      return changed > 0
    }
  }

  package func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    let (row, isBegun) = try await pool.perform { connection throws(StoreError) -> (DeliveryRow?, Bool) in
      let changed = try connection.run(
        """
        UPDATE deliveries SET status = 'pending', attempts = 0, begun = $1, due = $1
        WHERE event = (SELECT seq FROM events WHERE session_id = $2 AND type = $3 AND relying_party = $4)
          AND endpoint = $5 AND status = 'dead'
        """, .time(now), .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint))
      return (try connection.delivery(id, of: relyingParty), changed > 0)
    }
    guard let record = try row?.record() else { return .notFound }
    return isBegun ? .begun(record) : .refused(record)
  }

  package func outboxState() async throws(StoreError) -> OutboxState {
    let state = try await pool.perform(.list) { connection throws(StoreError) in
      try connection.first(
        """
        SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending'),
          (SELECT count(*) FROM deliveries WHERE status = 'dead'),
          (SELECT min(begun) FROM deliveries WHERE status = 'pending')
        """
      ) { row in
        OutboxState(
          pending: Int(row.integer(0)), dead: Int(row.integer(1)),
          oldestPending: row.optionalInteger(2).map { Timestamp(secondsSince1970: $0) })
      }
    }
    return state ?? OutboxState(pending: 0, dead: 0, oldestPending: nil)
  }
}

extension PostgreSQLStore {
  package func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT \(EventRow.columns) FROM events WHERE session_id = $1 AND type = $2 AND relying_party = $3",
        .text(id.session.text), .type(id.type), .text(relyingParty), read: EventRow.init)
    }?.record()
  }

  package func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    let types = (query.type.map { [$0] } ?? EventType.allCases).map(\.status.rawValue)
    let rows = try await pool.perform(.list) { connection throws(StoreError) -> [EventRow]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM events WHERE session_id = $1 AND type = $2 AND relying_party = $3",
          .text(cursor.session.text), .type(cursor.type), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      // The index has the events of each type in order. The query takes the newest of each type and merges them.
      return try connection.rows(
        """
        SELECT \(EventRow.columns) FROM unnest($3) AS wanted (name) CROSS JOIN LATERAL (SELECT * FROM events
          WHERE relying_party = $1 AND type = name AND seq < $2 ORDER BY seq DESC LIMIT $4) AS events
        ORDER BY events.seq DESC LIMIT $4
        """, .text(relyingParty), .integer(before), .texts(types), .integer(Int64(query.limit + 1)),
        read: EventRow.init)
    }
    guard let rows else { return nil }
    var events: [EventRecord] = []
    for row in rows.prefix(query.limit) { events.append(try row.record()) }
    return EventPage(events: events, hasMore: rows.count > query.limit)
  }

  package func deliveries(
    of relyingParty: String, _ query: DeliveryQuery
  ) async throws(StoreError) -> DeliveryPage? {
    let rows = try await pool.perform(.list) { connection throws(StoreError) -> [DeliveryRow]? in
      var before: (seq: Int64, endpoint: String) = (Int64.max, "")
      if let cursor = query.startingAfter {
        guard let row = try connection.delivery(cursor, of: relyingParty) else { return nil }
        before = (row.seq, row.endpoint)
      }
      return try connection.rows(
        """
        SELECT \(DeliveryRow.columns) FROM \(DeliveryRow.tables)
        WHERE deliveries.relying_party = $1 AND status = $2 AND (deliveries.event, endpoint) < ($3, $4)
        ORDER BY deliveries.event DESC, endpoint DESC LIMIT $5
        """, .text(relyingParty), .text(query.status.rawValue), .integer(before.seq), .text(before.endpoint),
        .integer(Int64(query.limit + 1)), read: DeliveryRow.init)
    }
    guard let rows else { return nil }
    var deliveries: [DeliveryRecord] = []
    for row in rows.prefix(query.limit) { deliveries.append(try row.record()) }
    return DeliveryPage(deliveries: deliveries, hasMore: rows.count > query.limit)
  }
}

extension PostgreSQLConnection {
  func delivery(_ id: DeliveryID, of relyingParty: String) throws(StoreError) -> DeliveryRow? {
    try first(
      """
      SELECT \(DeliveryRow.columns) FROM \(DeliveryRow.tables)
      WHERE session_id = $1 AND type = $2 AND events.relying_party = $3 AND endpoint = $4
      """, .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint),
      read: DeliveryRow.init)
  }
}
