import Primitives
import VerificationService

extension SQLiteStore {
  public func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    let interrupted = try StoredForm.encode(LastError.interrupted)
    let limit = SQLiteValue.integer(Int64(limit))
    return try await writer.perform { connection throws(StoreError) in
      var count = SweepCount()
      let expired = try connection.rows(
        """
        UPDATE sessions SET status = 'expired', ended_at = expires_at WHERE seq IN
          (SELECT seq FROM sessions WHERE status = 'requires_input' AND expires_at <= ? LIMIT ?)
        RETURNING seq
        """, [.time(now), limit]
      ) { $0.integer(0) }
      for seq in expired {
        try connection.run("UPDATE offers SET material = NULL WHERE session = ?", .integer(seq))
      }
      count.expired = expired.count
      count.interrupted = try connection.run(
        """
        UPDATE sessions SET status = 'failed', ended_at = consumed_at + ?, last_error = ? WHERE seq IN
          (SELECT seq FROM sessions WHERE status = 'processing' AND consumed_at < ? LIMIT ?)
        """, .integer(Limits.processingTimeout + 1), .blob(interrupted), .time(now - Limits.processingTimeout), limit)
      count.resultsErased = try connection.run(
        """
        UPDATE sessions SET waiting_result = NULL WHERE seq IN
          (SELECT seq FROM sessions WHERE waiting_result IS NOT NULL AND result_expires_at <= ? LIMIT ?)
        """, .time(now), limit)
      let repliesErased = try connection.run(
        """
        UPDATE idempotency SET result = NULL WHERE scope IN
          (SELECT scope FROM idempotency WHERE result IS NOT NULL AND result_expires_at <= ? LIMIT ?)
        """, .time(now), limit)
      count.sessionsDeleted = try connection.run(
        "DELETE FROM sessions WHERE seq IN (SELECT seq FROM sessions WHERE ended_at <= ? LIMIT ?)",
        .time(now - Limits.sessionRetention), limit)
      count.idempotencyKeysDeleted = try connection.run(
        "DELETE FROM idempotency WHERE scope IN (SELECT scope FROM idempotency WHERE begun <= ? LIMIT ?)",
        .time(now - Limits.idempotencyLifetime), limit)
      if count.resultsErased + repliesErased + count.sessionsDeleted > 0 { connection.mustTruncateLog = true }
      return count
    }
  }
}
