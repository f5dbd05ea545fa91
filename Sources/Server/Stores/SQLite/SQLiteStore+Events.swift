import Base
import Sessions

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
      // Each type has its events in order; those of several are merged.
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
  /// Writes the event of a change, in the change's transaction.
  func tell(
    _ seq: Int64, _ address: SessionAddress, _ type: EventType, code: String? = nil, at now: Timestamp
  ) throws(StoreError) {
    try tell(seq, id: address.id.text, of: address.relyingParty, type, code: code, at: now)
  }

  func tell(
    _ seq: Int64, id: String, of relyingParty: String, _ type: EventType, code: String? = nil, at now: Timestamp
  ) throws(StoreError) {
    try run(
      """
      INSERT INTO events (session, session_id, type, relying_party, created, error_code) VALUES (?, ?, ?, ?, ?, ?)
      """, .integer(seq), .text(id), .type(type), .text(relyingParty), .time(now), .optional(code))
  }

  fileprivate func seq(of id: EventID, _ relyingParty: String) throws(StoreError) -> Int64? {
    try first(
      "SELECT seq FROM events WHERE session = \(SQLiteStore.sessionByID) AND type = ? AND relying_party = ?",
      .text(id.session.text), .type(id.type), .text(relyingParty)
    ) { $0.integer(0) }
  }
}
