import Base
import Sessions

extension PostgreSQLStore {
  /// One statement claims a key that is free, too old or abandoned. Only if it claims nothing is the key looked up.
  package func beginIdempotent(
    _ claim: IdempotencyClaim, at now: Timestamp
  ) async throws(StoreError) -> IdempotencyStart {
    try await pool.perform { connection throws(StoreError) in
      // Another request may release the key between the two statements. The claim is then tried again.
      for _ in 0..<3 {
        let claimed = try connection.run(
          """
          INSERT INTO idempotency (scope, body_hash, token, begun, relying_party) VALUES ($1, $2, $3, $4, $7)
          ON CONFLICT (scope) DO UPDATE SET body_hash = $2, token = $3, begun = $4, is_finished = false,
            session = NULL, body = NULL, result = NULL, result_expires_at = NULL, bytes = 0, relying_party = $7
          WHERE idempotency.begun <= $5
            OR (idempotency.body_hash = $2 AND NOT idempotency.is_finished AND idempotency.begun <= $6)
          """, .blob(claim.scope), .blob(claim.bodyHash), .blob(claim.token), .time(now),
          .time(now - Limits.idempotencyLifetime), .time(now - IdempotencyClaim.lease), .text(claim.relyingParty))
        if claimed > 0 { return .started }
        let start = try connection.first(
          """
          SELECT body_hash, is_finished, session, body, result, result_expires_at FROM idempotency WHERE scope = $1
          """, .blob(claim.scope)
        ) { row in Self.start(row, for: claim) }
        if let start { return start }
      }
      throw .unavailable("an idempotency key that comes and goes")
    }
  }

  private static func start(_ row: PostgreSQLRow, for claim: IdempotencyClaim) -> IdempotencyStart {
    if row.blob(0) != claim.bodyHash { return .bodyDiffers }
    if row.integer(1) == 0 { return .inProgress }
    return .finished(
      StoredReply(
        session: row.optionalText(2).flatMap(SessionID.init), body: row.optionalBlob(3), result: row.optionalBlob(4),
        resultExpiresAt: row.optionalInteger(5).map { Timestamp(secondsSince1970: $0) }))
  }

  /// If the reply shows a session that was redacted meanwhile, the reply's content is left out. The session is locked,
  /// so a redaction comes either before, and is seen here, or after, and erases the reply.
  package func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try await pool.perform { connection throws(StoreError) in
      _ = try connection.query(
        """
        WITH shown AS (SELECT status FROM sessions WHERE id = $1 FOR SHARE)
        UPDATE idempotency SET is_finished = true, session = $1,
          body = CASE WHEN redacted THEN NULL ELSE $2 END, result = CASE WHEN redacted THEN NULL ELSE $3 END,
          result_expires_at = CASE WHEN redacted THEN NULL ELSE $4 END,
          bytes = CASE WHEN redacted THEN 0 ELSE coalesce(length($2), 0) END
        FROM (SELECT EXISTS (SELECT FROM shown WHERE status = 'redacted') AS redacted) AS state
        WHERE scope = $5 AND token = $6
        """, Self.values(of: completion))
    }
  }

  package func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    _ = try await pool.perform { connection throws(StoreError) in
      try connection.run(
        "DELETE FROM idempotency WHERE scope = $1 AND token = $2 AND NOT is_finished", .blob(claim.scope),
        .blob(claim.token))
    }
  }

  /// SQL that keeps a reply, unless another request has taken the claim over.
  ///
  /// - Parameter first: the number of the first of the six `values(of:)`.
  static func keepReply(from first: Int) -> String {
    """
    UPDATE idempotency SET is_finished = true, session = $\(first), body = $\(first + 1), result = $\(first + 2),
      result_expires_at = $\(first + 3), bytes = coalesce(length($\(first + 1)), 0)
    WHERE scope = $\(first + 4) AND token = $\(first + 5)
    """
  }

  static func values(of completion: IdempotencyCompletion) -> [PostgreSQLValue] {
    let reply = completion.reply
    return [
      .text(reply.session?.text), .blob(reply.body), .blob(reply.result),
      .integer(reply.resultExpiresAt?.secondsSince1970), .blob(completion.claim.scope), .blob(completion.claim.token),
    ]
  }
}
