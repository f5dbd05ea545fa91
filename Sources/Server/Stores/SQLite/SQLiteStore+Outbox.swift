import Base
import Sessions

extension SQLiteStore {
  package func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    let subscriptions = Dictionary(grouping: subscriptions, by: \.address.relyingParty)
    return try await writer.perform { connection throws(StoreError) in
      let events = try connection.rows(
        """
        SELECT seq, relying_party, type FROM events WHERE seq > (SELECT distributed FROM outbox) ORDER BY seq LIMIT ?
        """, [.integer(Int64(limit))]
      ) { (seq: $0.integer(0), relyingParty: $0.text(1), type: $0.text(2)) }
      for event in events {
        for subscription in subscriptions[event.relyingParty] ?? []
        where subscription.types.contains(where: { $0.status.rawValue == event.type }) {
          try connection.run(
            """
            INSERT INTO deliveries (event, endpoint, relying_party, status, attempts, begun, due)
            VALUES (?, ?, ?, 'pending', 0, ?, ?)
            """, .integer(event.seq), .text(subscription.address.endpoint), .text(event.relyingParty), .time(now),
            .time(now))
        }
      }
      if let last = events.last { try connection.run("UPDATE outbox SET distributed = ?", .integer(last.seq)) }
      return events.count
    }
  }

  package func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    let rows = try await writer.perform { connection throws(StoreError) in
      var claimed: [DeliveryRow] = []
      for quota in quotas where claimed.count < limit {
        let due = try connection.rows(
          """
          SELECT \(DeliveryRow.columns) FROM \(DeliveryRow.tables)
          WHERE deliveries.relying_party = ? AND endpoint = ? AND status = 'pending' AND due <= ?
          ORDER BY due LIMIT ?
          """,
          [
            .text(quota.address.relyingParty), .text(quota.address.endpoint), .time(now),
            .integer(Int64(min(quota.limit, limit - claimed.count))),
          ], DeliveryRow.init)
        for var row in due {
          row.attempts += 1
          row.due = (now + Limits.deliveryLease).secondsSince1970
          try connection.run(
            "UPDATE deliveries SET attempts = ?, due = ? WHERE event = ? AND endpoint = ?",
            .integer(Int64(row.attempts)), .integer(row.due), .integer(row.seq), .text(row.endpoint))
          claimed.append(row)
        }
      }
      return claimed
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
    return try await writer.perform { connection throws(StoreError) in
      let changed = try connection.run(
        """
        UPDATE deliveries SET status = ?, due = ?, fault = ?, fault_status = ?
        WHERE event = (SELECT seq FROM events WHERE session = \(Self.sessionByID) AND type = ?) AND endpoint = ?
          AND status = 'pending' AND attempts = ? AND due = ?
        """, .text(status.rawValue), .time(due), .optional(fault?.reason.rawValue),
        .optional(fault?.httpStatus.map(Int64.init)), .text(claimed.event.id.session.text),
        .type(claimed.event.id.type), .text(claimed.endpoint), .integer(Int64(claimed.attempts)), .time(claimed.due))
      return changed > 0
    }
  }

  package func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    let (row, isBegun) = try await writer.perform { connection throws(StoreError) -> (DeliveryRow?, Bool) in
      guard let found = try DeliveryRow.first(connection, id, of: relyingParty) else { return (nil, false) }
      let changed = try connection.run(
        """
        UPDATE deliveries SET status = 'pending', attempts = 0, begun = ?, due = ?
        WHERE event = ? AND endpoint = ? AND status = 'dead'
        """, .time(now), .time(now), .integer(found.seq), .text(found.endpoint))
      return (try DeliveryRow.first(connection, id, of: relyingParty), changed > 0)
    }
    guard let record = try row?.record() else { return .notFound }
    return isBegun ? .begun(record) : .refused(record)
  }

  package func outboxState() async throws(StoreError) -> OutboxState {
    try await lister.perform { connection throws(StoreError) in
      let pending = try connection.first("SELECT count(*), min(begun) FROM deliveries WHERE status = 'pending'") {
        (count: Int($0.integer(0)), oldest: $0.optionalInteger(1))
      }
      let dead = try connection.first("SELECT count(*) FROM deliveries WHERE status = 'dead'") { Int($0.integer(0)) }
      return OutboxState(
        pending: pending?.count ?? 0, dead: dead ?? 0,
        oldestPending: pending?.oldest.map { Timestamp(secondsSince1970: $0) })
    }
  }
}

extension SQLiteStore {
  /// A session's `seq` by its id.
  static let sessionByID = "(SELECT seq FROM sessions WHERE id = ?)"

  package func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await reader.perform { connection throws(StoreError) in
      try connection.first(
        """
        SELECT \(EventRow.columns) FROM events WHERE session = \(Self.sessionByID) AND type = ? AND relying_party = ?
        """, .text(id.session.text), .type(id.type), .text(relyingParty), read: EventRow.init)
    }?.record()
  }

  package func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    let rows = try await lister.perform { connection throws(StoreError) -> [EventRow]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        guard let seq = try connection.seq(of: cursor, relyingParty) else { return nil }
        before = seq
      }
      // The index has the events of each type in order. The query takes the newest of each type and merges them.
      let types = (query.type.map { [$0] } ?? EventType.allCases).map { type in
        """
        SELECT * FROM (SELECT seq FROM events WHERE relying_party = ?1 AND type = '\(type.status.rawValue)' AND seq < ?2
          ORDER BY seq DESC LIMIT ?3)
        """
      }
      return try connection.rows(
        """
        SELECT \(EventRow.columns) FROM events WHERE seq IN (\(types.joined(separator: " UNION ALL ")))
        ORDER BY seq DESC LIMIT ?3
        """, [.text(relyingParty), .integer(before), .integer(Int64(query.limit + 1))], EventRow.init)
    }
    guard let rows else { return nil }
    var events: [EventRecord] = []
    for row in rows.prefix(query.limit) { events.append(try row.record()) }
    return EventPage(events: events, hasMore: rows.count > query.limit)
  }

  package func deliveries(
    of relyingParty: String, _ query: DeliveryQuery
  ) async throws(StoreError) -> DeliveryPage? {
    let rows = try await lister.perform { connection throws(StoreError) -> [DeliveryRow]? in
      var before: (seq: Int64, endpoint: String) = (Int64.max, "")
      if let cursor = query.startingAfter {
        guard let row = try DeliveryRow.first(connection, cursor, of: relyingParty) else { return nil }
        before = (row.seq, row.endpoint)
      }
      return try connection.rows(
        """
        SELECT \(DeliveryRow.columns) FROM \(DeliveryRow.tables)
        WHERE deliveries.relying_party = ? AND status = ? AND (deliveries.event, endpoint) < (?, ?)
        ORDER BY deliveries.event DESC, endpoint DESC LIMIT ?
        """,
        [
          .text(relyingParty), .text(query.status.rawValue), .integer(before.seq), .text(before.endpoint),
          .integer(Int64(query.limit + 1)),
        ], DeliveryRow.init)
    }
    guard let rows else { return nil }
    var deliveries: [DeliveryRecord] = []
    for row in rows.prefix(query.limit) { deliveries.append(try row.record()) }
    return DeliveryPage(deliveries: deliveries, hasMore: rows.count > query.limit)
  }
}

extension SQLiteConnection {
  /// Writes the event of a session's change, in the transaction of that change.
  func tell(
    _ seq: Int64, _ address: SessionAddress, _ type: EventType, code: String? = nil, result: ResultPlace? = nil,
    at now: Timestamp
  ) throws(StoreError) {
    try tell(seq, id: address.id.text, of: address.relyingParty, type, code: code, result: result, at: now)
  }

  func tell(
    _ seq: Int64, id: String, of relyingParty: String, _ type: EventType, code: String? = nil,
    result: ResultPlace? = nil, at now: Timestamp
  ) throws(StoreError) {
    try run(
      """
      INSERT INTO events (session, session_id, type, relying_party, created, error_code, result)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .integer(seq), .text(id), .type(type), .text(relyingParty), .time(now), .optional(code),
      .optional(result?.rawValue))
  }

  fileprivate func seq(of id: EventID, _ relyingParty: String) throws(StoreError) -> Int64? {
    try first(
      "SELECT seq FROM events WHERE session = \(SQLiteStore.sessionByID) AND type = ? AND relying_party = ?",
      .text(id.session.text), .type(id.type), .text(relyingParty)
    ) { $0.integer(0) }
  }
}

extension DeliveryRow {
  static func first(_ connection: SQLiteConnection, _ id: DeliveryID, of relyingParty: String) throws(StoreError)
    -> DeliveryRow?
  {
    try connection.first(
      """
      SELECT \(columns) FROM \(tables)
      WHERE session = \(SQLiteStore.sessionByID) AND type = ? AND events.relying_party = ? AND endpoint = ?
      """, .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint),
      read: DeliveryRow.init)
  }
}

extension SQLiteValue {
  static func type(_ type: EventType) -> SQLiteValue { .text(type.status.rawValue) }
}
