import Primitives
import VerificationService

extension PostgreSQLStore {
  public func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in try connection.row(address) }?.record()
  }

  public func session(clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT \(SessionRow.postgreSQLColumns) FROM sessions WHERE client_secret_hash = $1", .blob(clientSecretHash),
        read: SessionRow.init)
    }?.record()
  }

  public func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    let report = try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT report FROM sessions WHERE report_id = $1 AND relying_party = $2", .text(id.text), .text(relyingParty)
      ) { $0.blob(0) }
    }
    return try report.map { report throws(StoreError) in try StoredForm.decode(ReportRecord.self, from: report) }
  }

  public func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT evidence_bundle FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.optionalBlob(0) } ?? nil
    }
  }

  /// The status is as a reader sees it now: what time has ended is not yet written.
  public func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let rows = try await pool.perform { connection throws(StoreError) -> [SessionRow]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = $1 AND relying_party = $2", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      return try connection.rows(
        """
        SELECT \(SessionRow.postgreSQLColumns) FROM sessions
        WHERE relying_party = $1 AND seq < $2 AND ($3 IS NULL OR $3 = CASE
          WHEN status = 'requires_input' AND expires_at <= $4 THEN 'expired'
          WHEN status = 'processing' AND consumed_at < $5 THEN 'failed'
          ELSE status END)
        ORDER BY seq DESC LIMIT $6
        """, .text(relyingParty), .integer(before), .text(query.status?.rawValue), .time(now),
        .time(now - Limits.processingTimeout), .integer(Int64(query.limit + 1)), read: SessionRow.init)
    }
    guard let rows else { return nil }
    var sessions: [SessionRecord] = []
    for row in rows.prefix(query.limit) { sessions.append(try row.record()) }
    return SessionPage(sessions: sessions, hasMore: rows.count > query.limit)
  }
}
