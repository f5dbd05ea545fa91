import Base
import Sessions

extension SQLiteStore {
  package func beginIdempotent(
    _ claim: IdempotencyClaim, at now: Timestamp
  ) async throws(StoreError) -> IdempotencyStart {
    try await writer.perform { connection throws(StoreError) in
      if let found = try connection.first(
        """
        SELECT body_hash, begun, is_finished, session, body, result, result_expires_at FROM idempotency
        WHERE scope = ? AND begun > ?
        """, .blob(claim.scope), .time(now - Limits.idempotencyLifetime), read: Found.init)
      {
        if found.bodyHash != claim.bodyHash { return .bodyDiffers }
        if let reply = found.reply { return .finished(reply) }
        if now < found.begun + IdempotencyClaim.lease { return .inProgress }
      }
      try connection.run(
        "INSERT OR REPLACE INTO idempotency (scope, body_hash, token, begun, relying_party) VALUES (?, ?, ?, ?, ?)",
        .blob(claim.scope), .blob(claim.bodyHash), .blob(claim.token), .time(now), .text(claim.relyingParty))
      return .started
    }
  }

  package func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try await writer.perform { connection throws(StoreError) in try connection.finish(completion) }
  }

  package func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    try await writer.perform { connection throws(StoreError) in
      _ = try connection.run(
        "DELETE FROM idempotency WHERE scope = ? AND token = ? AND NOT is_finished", .blob(claim.scope),
        .blob(claim.token))
    }
  }

  private struct Found {
    let bodyHash: [UInt8]
    let begun: Timestamp
    let reply: StoredReply?

    init(_ row: SQLiteRow) {
      bodyHash = row.blob(0)
      begun = Timestamp(secondsSince1970: row.integer(1))
      reply =
        row.integer(2) == 0
        ? nil
        : StoredReply(
          session: row.optionalText(3).flatMap(SessionID.init), body: row.optionalBlob(4),
          result: row.optionalBlob(5),
          resultExpiresAt: row.optionalInteger(6).map { Timestamp(secondsSince1970: $0) })
    }
  }
}

extension SQLiteConnection {
  /// Keeps a reply, unless another request has taken the claim over. If the reply shows a session that was redacted
  /// meanwhile, the reply's content is left out.
  func finish(_ completion: IdempotencyCompletion?) throws(StoreError) {
    guard let completion else { return }
    var reply = completion.reply
    if let session = reply.session, try isRedacted(session) {
      reply.body = nil
      reply.result = nil
      reply.resultExpiresAt = nil
    }
    try run(
      """
      UPDATE idempotency SET is_finished = 1, session = ?, body = ?, result = ?, result_expires_at = ?, bytes = ?
      WHERE scope = ? AND token = ?
      """, .optional(reply.session?.text), .optional(reply.body), .optional(reply.result),
      .optional(reply.resultExpiresAt?.secondsSince1970), .integer(Int64(reply.body?.count ?? 0)),
      .blob(completion.claim.scope),
      .blob(completion.claim.token))
  }

  private func isRedacted(_ session: SessionID) throws(StoreError) -> Bool {
    try first("SELECT 1 FROM sessions WHERE id = ? AND status = 'redacted'", .text(session.text)) { _ in true } ?? false
  }
}
