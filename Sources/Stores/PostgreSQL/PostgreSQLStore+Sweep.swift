import Primitives
import VerificationService

extension PostgreSQLStore {
  /// Each kind is a transaction of its own, and leaves out rows that somebody holds: nobody waits for a sweep, not even
  /// another node's.
  public func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    let interrupted = try StoredForm.encode(LastError.interrupted)
    let limit = PostgreSQLValue.integer(Int64(limit))
    return try await pool.perform { connection throws(StoreError) in
      var count = SweepCount()
      count.expired = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE status = 'requires_input' AND expires_at <= $1
          ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        UPDATE sessions SET status = 'expired', ended_at = expires_at, materials = NULL
        FROM due WHERE sessions.id = due.id
        """, .time(now), limit)
      count.interrupted = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE status = 'processing' AND consumed_at < $1
          ORDER BY consumed_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        UPDATE sessions SET status = 'failed', ended_at = consumed_at + $3, last_error = $4
        FROM due WHERE sessions.id = due.id
        """, .time(now - Limits.processingTimeout), limit, .integer(Limits.processingTimeout + 1), .blob(interrupted))
      count.resultsErased = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE waiting_result IS NOT NULL AND result_expires_at <= $1
          ORDER BY result_expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        UPDATE sessions SET waiting_result = NULL FROM due WHERE sessions.id = due.id
        """, .time(now), limit)
      try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT scope FROM idempotency WHERE result IS NOT NULL AND result_expires_at <= $1
          ORDER BY result_expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        UPDATE idempotency SET result = NULL FROM due WHERE idempotency.scope = due.scope
        """, .time(now), limit)
      count.sessionsDeleted = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE ended_at <= $1
          ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM sessions USING due WHERE sessions.id = due.id
        """, .time(now - Limits.sessionRetention), limit)
      count.idempotencyKeysDeleted = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT scope FROM idempotency WHERE begun <= $1
          ORDER BY begun LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM idempotency USING due WHERE idempotency.scope = due.scope
        """, .time(now - Limits.idempotencyLifetime), limit)
      return count
    }
  }
}
