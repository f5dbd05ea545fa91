import Base
import Sessions

extension SQLiteStore {
  static let dialect = SessionListing.Dialect(
    mark: "?", key: "seq", processingIndex: "INDEXED BY sessions_processing",
    requestBytes: "length(requests)",
    // The material is nobody's to read.
    requestColumns: ["protocols", "requests", "NULL"])

  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let listing = SessionListing(query: query, dialect: Self.dialect)
    let found = try await lister.perform { connection throws(StoreError) -> [(row: SessionRow, found: Int)]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = ? AND relying_party = ?", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let time = listing.time(at: now).map { [SQLiteValue.time($0)] } ?? []
      return try connection.rows(
        listing.sql, [.text(relyingParty), .integer(before), .integer(listing.rows)] + time
      ) { (row: SessionRow($0), found: Int($0.integer(SessionRow.width + 3))) }
    }
    guard let found else { return nil }
    return try SessionPage(rows: found.map(\.row), found: found.first?.found ?? 0, limit: query.limit)
  }

  /// From indexes that have all that is counted.
  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    try await lister.perform { connection throws(StoreError) in
      let counts = try connection.first(
        """
        SELECT
          (SELECT count(*) FROM sessions WHERE relying_party = ?1 AND status = 'requires_input' AND expires_at > ?2),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?3 FROM sessions
            WHERE relying_party = ?1 AND status = 'requires_input'),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?3 FROM sessions
            WHERE relying_party = ?1 AND ended_at IS NOT NULL),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?4 FROM idempotency WHERE relying_party = ?1 AND is_finished)
        """, .text(relyingParty), .time(now), .integer(StoreUsage.sessionOverhead), .integer(StoreUsage.replyOverhead)
      ) { row in
        StoreUsage(
          openSessions: row.integer(0), bytes: row.integer(1) + row.integer(2), idempotencyBytes: row.integer(3))
      }
      return counts ?? StoreUsage()
    }
  }
}
