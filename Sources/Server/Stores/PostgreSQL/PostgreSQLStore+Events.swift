import Base
import Sessions

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
      // Each type has its events in order; those of several are merged.
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
