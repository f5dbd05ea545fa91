import Base
import Sessions

extension PostgreSQLStore {
  package func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in try connection.row(address) }?.record()
  }

  package func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in
      guard let id else {
        return try connection.first(
          "SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE client_secret_hash = $1",
          .blob(clientSecretHash), read: SessionRow.init)
      }
      return try connection.first(
        "SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE sessions.id = $1 AND secret_hash = $2",
        .text(id.text), .blob(clientSecretHash), read: SessionRow.init)
    }?.record()
  }

  package func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    let report = try await pool.perform { connection throws(StoreError) in
      try connection.first(
        """
        SELECT report FROM sessions WHERE id = $1 AND relying_party = $3 AND report_id IS NULL
        UNION ALL SELECT report FROM sessions WHERE report_id = $2 AND relying_party = $3
        """, .text(id.session?.text), .text(id.text), .text(relyingParty)
      ) { $0.optionalBlob(0) }
    }
    guard let report = report ?? nil else { return nil }
    return try StoredForm.decode(ReportRecord.self, from: report)
  }

  package func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT evidence_bundle FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.optionalBlob(0) } ?? nil
    }
  }

  /// The status is as a reader sees it now: what time has ended is not yet written.
  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let listing = SessionListing(query: query, dialect: Self.dialect)
    let found = try await pool.perform(.list) { connection throws(StoreError) -> [(row: SessionRow, found: Int)]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = $1 AND relying_party = $2", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let time = listing.time(at: now).map { [PostgreSQLValue.time($0)] } ?? []
      return try connection.rows(
        listing.sql, [.text(relyingParty), .integer(before), .integer(listing.rows)] + time
      ) { (row: SessionRow($0), found: Int($0.integer(SessionRow.width + 3))) }
    }
    guard let found else { return nil }
    return try SessionPage(rows: found.map(\.row), found: found.first?.found ?? 0, limit: query.limit)
  }

  private static let dialect = SessionListing.Dialect(
    mark: "$", key: "id", processingIndex: "",
    requestBytes: "(SELECT sum(length(request)) FROM unnest(requests) AS request)",
    // The material is nobody's to read.
    requestColumns: ["protocols", "requests", "NULL"])

  /// From indexes that have all that is counted.
  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    let usage = try await pool.perform(.list) { connection throws(StoreError) in
      try connection.first(
        """
        SELECT waiting.alive, waiting.bytes + ended.bytes, replies.bytes FROM
          (SELECT count(*) FILTER (WHERE expires_at > $2) AS alive,
            (coalesce(sum(bytes), 0) + count(*) * $3)::bigint AS bytes FROM sessions
            WHERE relying_party = $1 AND status = 'requires_input') AS waiting,
          (SELECT (coalesce(sum(bytes), 0) + count(*) * $3)::bigint AS bytes FROM sessions
            WHERE relying_party = $1 AND ended_at IS NOT NULL) AS ended,
          (SELECT (coalesce(sum(bytes), 0) + count(*) * $4)::bigint AS bytes FROM idempotency
            WHERE relying_party = $1 AND is_finished) AS replies
        """, .text(relyingParty), .time(now), .integer(StoreUsage.sessionOverhead),
        .integer(StoreUsage.replyOverhead)
      ) { StoreUsage(openSessions: $0.integer(0), bytes: $0.integer(1), idempotencyBytes: $0.integer(2)) }
    }
    return usage ?? StoreUsage()
  }
}
