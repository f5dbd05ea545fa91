import Base
import Sessions

extension DatabaseStore {
  package func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await perform("event", .read) { connection throws(StoreError) in
      try connection.first(
        "SELECT \(EventRecord.columns(Connection.dialect)) FROM events WHERE \(Self.isEvent)", .text(id.session.text),
        .type(id.type),
        .text(relyingParty)
      ) { EventRecord($0) }.map { event throws(StoreError) in try intact(event, "an event") }
    }
  }

  package func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    let rows = try await perform("events", .list) { connection throws(StoreError) -> [EventRecord?]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM events WHERE \(Self.isEvent)", .text(cursor.session.text), .type(cursor.type),
          .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      // The index has the events of each type in order. The query reads each type's newest events and merges them.
      let types = (query.type.map { [$0] } ?? EventType.allCases).map { type in
        """
        SELECT * FROM (SELECT seq FROM events WHERE relying_party = $1 AND type = '\(type.status.rawValue)' AND seq < $2
          ORDER BY seq DESC LIMIT $3) AS found
        """
      }
      return try connection.rows(
        """
        SELECT \(EventRecord.columns(Connection.dialect)) FROM events WHERE seq IN (\(types.joined(separator: " UNION ALL ")))
        ORDER BY seq DESC LIMIT $3
        """, [.text(relyingParty), .integer(before), .integer(query.limit + 1)]
      ) { EventRecord($0) }
    }
    guard let rows else { return nil }
    return EventPage(
      entries: try intact(all: rows.prefix(query.limit), "an event"), hasMore: rows.count > query.limit)
  }

  package func deliveries(
    of relyingParty: String, _ query: DeliveryQuery
  ) async throws(StoreError) -> DeliveryPage? {
    let rows = try await perform("deliveries", .list) { connection throws(StoreError) -> [DeliveryRecord?]? in
      var before: (seq: Int64, endpoint: String) = (Int64.max, "")
      if let cursor = query.startingAfter {
        guard let row = try Self.delivery(cursor, of: relyingParty, connection, read: { $0.integer(8) }) else {
          return nil
        }
        before = (row, cursor.endpoint)
      }
      var values: [SQLValue] = [
        .text(relyingParty), .integer(before.seq), .text(before.endpoint), .integer(query.limit + 1),
      ]
      var condition = ""
      func require(_ column: String, _ value: SQLValue) {
        values.append(value)
        condition += " AND \(column) = $\(values.count)"
      }
      if let status = query.statusInForce { require("status", .text(status.rawValue)) }
      if let event = query.event {
        let seq = try connection.first(
          "SELECT seq FROM events WHERE \(Self.isEvent)", .text(event.session.text), .type(event.type),
          .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return [] }
        require("deliveries.event", .integer(seq))
      }
      return try connection.rows(
        """
        SELECT \(DeliveryRecord.columns(Connection.dialect)) FROM \(DeliveryRecord.tables)
        WHERE deliveries.relying_party = $1 AND (deliveries.event, endpoint) < ($2, $3)\(condition)
        ORDER BY deliveries.event DESC, endpoint DESC LIMIT $4
        """, values
      ) { DeliveryRecord($0) }
    }
    guard let rows else { return nil }
    return DeliveryPage(
      entries: try intact(all: rows.prefix(query.limit), "a delivery"), hasMore: rows.count > query.limit)
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
    return try await perform("record_delivery", .write) { connection throws(StoreError) in
      try connection.run(
        """
        UPDATE deliveries SET status = $5, due = $6, fault = $7, fault_status = $8
        WHERE event = (SELECT seq FROM events WHERE \(Self.isEvent)) AND endpoint = $4 AND status = 'pending'
          AND attempts = $9 AND due = $10
        """, .text(claimed.event.id.session.text), .type(claimed.event.id.type), .text(claimed.event.relyingParty),
        .text(claimed.endpoint), .text(status.rawValue), .time(due), .text(fault?.reason.rawValue),
        .integer(fault?.httpStatus.map(Int64.init)), .integer(claimed.attempts), .time(claimed.due)) > 0
    }
  }

  package func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    let (row, isBegun) = try await perform("retry_delivery", .write) {
      connection throws(StoreError) -> (DeliveryRecord??, Bool) in
      let changed = try connection.run(
        """
        UPDATE deliveries SET status = 'pending', attempts = 0, begun = $5, due = $5
        WHERE event = (SELECT seq FROM events WHERE \(Self.isEvent)) AND endpoint = $4 AND status = 'dead'
        """, .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint), .time(now))
      return (try Self.delivery(id, of: relyingParty, connection) { DeliveryRecord($0) }, changed > 0)
    }
    guard let row else { return .notFound }
    let record = try intact(row, "a delivery")
    return isBegun ? .begun(record) : .refused(record)
  }

  package func outboxState() async throws(StoreError) -> OutboxState {
    let state = try await perform("outbox_state", .list) { connection throws(StoreError) in
      try connection.first(
        """
        SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending'),
          (SELECT count(*) FROM deliveries WHERE status = 'dead'),
          (SELECT min(begun) FROM deliveries WHERE status = 'pending')
        """
      ) { row in
        OutboxState(
          pending: Int(row.integer(0)), dead: Int(row.integer(1)), oldestPending: row.optionalTime(2))
      }
    }
    return state ?? OutboxState(pending: 0, dead: 0, oldestPending: nil)
  }

  /// Selects the event of the session `$1`, the type `$2` and the relying party `$3`.
  private static var isEvent: String { Connection.dialect.isOfSession + " AND type = $2 AND events.relying_party = $3" }

  private static func delivery<Value>(
    _ id: DeliveryID, of relyingParty: String, _ connection: Connection, read: (Connection.Row) -> Value
  ) throws(StoreError) -> Value? {
    try connection.first(
      "SELECT \(DeliveryRecord.columns(Connection.dialect)) FROM \(DeliveryRecord.tables) WHERE \(isEvent) AND endpoint = $4",
      .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint), read: read)
  }
}

extension EventRecord {
  /// The client reference id and the metadata come from the session.
  static func columns(_ dialect: Dialect) -> String {
    let texts = ["client_reference_id", dialect.metadata].map {
      ", (SELECT \($0) FROM sessions WHERE sessions.id = events.session_id)"
    }
    return "events.session_id, events.type, events.relying_party, events.created, events.error_code, events.result"
      + texts.joined()
  }

  /// Reads a row that begins with `columns`; nil if it is corrupt.
  init?(_ row: some StoredRow) {
    guard let session = SessionID(row.text(0)), let type = SessionStatus(rawValue: row.text(1)).flatMap(EventType.init)
    else { return nil }
    self.init(
      id: EventID(session, type), relyingParty: row.text(2), created: row.time(3), errorCode: row.optionalText(4),
      result: row.optionalText(5).flatMap(ResultPlace.init), clientReferenceID: row.optionalText(6),
      metadata: row.optionalText(7).flatMap { try? JSON(parsing: Array($0.utf8)) }?.array?
        .compactMap(NamedText.init(storedJSON:)) ?? [])
  }
}

extension DeliveryRecord {
  /// The event's columns, its `seq`, and the delivery's own columns.
  static func columns(_ dialect: Dialect) -> String {
    EventRecord.columns(dialect) + ", deliveries.event, endpoint, status, attempts, begun, due, fault, fault_status"
  }
  static let tables = "deliveries JOIN events ON events.seq = deliveries.event"

  /// Reads a row that begins with `columns`; nil if it is corrupt.
  init?(_ row: some StoredRow) {
    guard let event = EventRecord(row), let status = DeliveryStatus(rawValue: row.text(10)) else { return nil }
    self.init(
      event: event, endpoint: row.text(9), status: status, attempts: Int(row.integer(11)), begun: row.time(12),
      due: row.time(13),
      fault: row.optionalText(14).flatMap(DeliveryFault.Reason.init).map {
        DeliveryFault($0, httpStatus: row.optionalInteger(15).map(Int.init))
      })
  }
}
