import Primitives
import VerificationService

extension SQLiteStore {
  /// A session's `seq` by its id.
  static let sessionByID = "(SELECT seq FROM sessions WHERE id = ?)"

  public func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await reader.perform { connection throws(StoreError) in
      try connection.first(
        """
        SELECT \(EventRow.columns) FROM events WHERE session = \(Self.sessionByID) AND type = ? AND relying_party = ?
        """, .text(id.session.text), .type(id.type), .text(relyingParty), read: EventRow.init)
    }?.record()
  }

  public func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    let rows = try await reader.perform { connection throws(StoreError) -> [EventRow]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        guard let seq = try connection.seq(of: cursor, relyingParty) else { return nil }
        before = seq
      }
      let condition = query.type == nil ? "" : "AND type = ?"
      let values = query.type.map { [SQLiteValue.type($0)] } ?? []
      return try connection.rows(
        """
        SELECT \(EventRow.columns) FROM events WHERE relying_party = ? AND seq < ? \(condition)
        ORDER BY seq DESC LIMIT ?
        """, [.text(relyingParty), .integer(before)] + values + [.integer(Int64(query.limit + 1))], EventRow.init)
    }
    guard let rows else { return nil }
    var events: [EventRecord] = []
    for row in rows.prefix(query.limit) { events.append(try row.record()) }
    return EventPage(events: events, hasMore: rows.count > query.limit)
  }

  public func deliveries(
    of relyingParty: String, _ query: DeliveryQuery
  ) async throws(StoreError) -> DeliveryPage? {
    let rows = try await reader.perform { connection throws(StoreError) -> [DeliveryRow]? in
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
