import Primitives
import VerificationService

extension SQLiteStore {
  public func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let rows = try await reader.perform { connection throws(StoreError) -> [SessionRow]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = ? AND relying_party = ?", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let (condition, values) = Self.condition(for: query.status, at: now)
      return try SessionRow.all(
        connection,
        """
        SELECT \(SessionRow.columns) FROM sessions WHERE relying_party = ? AND seq < ? AND (\(condition))
        ORDER BY seq DESC LIMIT ?
        """, [.text(relyingParty), .integer(before)] + values + [.integer(Int64(query.limit + 1))])
    }
    guard let rows else { return nil }
    var sessions: [SessionRecord] = []
    for row in rows.prefix(query.limit) { sessions.append(try row.record()) }
    return SessionPage(sessions: sessions, hasMore: rows.count > query.limit)
  }

  /// The status as a reader sees it now: what time has ended is not yet written.
  private static func condition(for status: SessionStatus?, at now: Timestamp) -> (String, [SQLiteValue]) {
    let stale = SQLiteValue.time(now - Limits.processingTimeout)
    return switch status {
    case nil: ("TRUE", [])
    case .requiresInput: ("status = 'requires_input' AND expires_at > ?", [.time(now)])
    case .expired: ("status = 'expired' OR (status = 'requires_input' AND expires_at <= ?)", [.time(now)])
    case .processing: ("status = 'processing' AND consumed_at >= ?", [stale])
    case .failed: ("status = 'failed' OR (status = 'processing' AND consumed_at < ?)", [stale])
    case .verified, .canceled, .redacted: ("status = ?", [.text(status?.rawValue ?? "")])
    }
  }
}
