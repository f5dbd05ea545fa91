import Base
import Sessions

// MARK: Idempotency

extension DatabaseStore {
  /// Claims a free, expired or abandoned key in one statement. Looks the key up only if this fails.
  package func beginIdempotent(
    _ claim: IdempotencyClaim, at now: Timestamp
  ) async throws(StoreError) -> IdempotencyStart {
    try await perform("begin_idempotent", .write) { connection throws(StoreError) in
      // Another request may release the key between the two statements.
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
        ) { row -> IdempotencyStart in
          if row.blob(0) != claim.bodyHash { return .bodyDiffers }
          if row.integer(1) == 0 { return .inProgress }
          return .finished(
            StoredReply(
              session: row.optionalText(2).flatMap(SessionID.init), body: row.optionalBlob(3),
              result: row.optionalBlob(4), resultExpiresAt: row.optionalTime(5)))
        }
        if let start { return start }
      }
      throw .unavailable("other requests keep claiming and releasing the idempotency key")
    }
  }

  package func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try await perform("finish_idempotent", .write) { connection throws(StoreError) in
      try connection.finish(completion)
    }
  }

  package func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    _ = try await perform("release_idempotent", .write) { connection throws(StoreError) in
      try connection.run(
        "DELETE FROM idempotency WHERE scope = $1 AND token = $2 AND NOT is_finished", .blob(claim.scope),
        .blob(claim.token))
    }
  }
}

extension DatabaseConnection {
  /// Stores a reply, unless another request has the claim. If the session was redacted, stores the reply without its
  /// content. The session is locked. An earlier redaction is therefore visible here, and a later redaction erases the
  /// reply.
  func finish(_ completion: IdempotencyCompletion) throws(StoreError) {
    try run(
      """
      WITH shown AS (SELECT status FROM sessions WHERE id = $1 \(Self.dialect.forShare))
      UPDATE idempotency SET is_finished = true, session = $1,
        body = CASE WHEN redacted THEN NULL ELSE $2 END, result = CASE WHEN redacted THEN NULL ELSE $3 END,
        result_expires_at = CASE WHEN redacted THEN NULL ELSE $4 END,
        bytes = CASE WHEN redacted THEN 0 ELSE coalesce(length($2), 0) END
      FROM (SELECT EXISTS (SELECT 1 FROM shown WHERE status = 'redacted') AS redacted) AS state
      WHERE scope = $5 AND token = $6
      """, completion.values)
  }
}

extension IdempotencyCompletion {
  /// The six values for the SQL that stores the reply.
  var values: [SQLValue] {
    [
      .text(reply.session?.text), .blob(reply.body), .blob(reply.result), .time(reply.resultExpiresAt),
      .blob(claim.scope), .blob(claim.token),
    ]
  }
}

// MARK: Audit

extension DatabaseReader {
  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    let own: [SQLValue] = relyingParty.map { [.text($0)] } ?? []
    return try await perform("audit_entries", .list) { connection throws(StoreError) in
      let links = try connection.rows(
        """
        SELECT sequence, hash, entry FROM audit
        WHERE node = $1 AND sequence > $2 \(own.isEmpty ? "" : "AND relying_party = $4") ORDER BY sequence LIMIT $3
        """, [.text(node.text), .integer(sequence), .integer(limit)] + own
      ) { AuditLink(head: AuditHead(node, $0), entry: $0.blob(2)) }
      // Read the head after the entries, so that it is never older than the last entry.
      return AuditPage(links: links, head: try connection.auditHead(of: node, relyingParty))
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try await perform("audit_heads", .list) { connection throws(StoreError) in
      try connection.auditHeads(of: relyingParty)
    }
  }
}

// MARK: The sweep

extension DatabaseStore {
  /// Sweeps each kind of row in a separate transaction, if other nodes share the database. Skips locked rows, so it
  /// never waits for a request or another node.
  package func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    try await perform("sweep", .write) { [node, mode] connection throws(StoreError) in
      var count = SweepCount()
      let most = SQLValue.integer(limit)
      count.expired = try connection.atomically { () throws(StoreError) in
        let expired = try connection.rows(
          connection.change(
            "sessions", set: "status = 'expired', ended_at = expires_at, materials = NULL",
            where: "status = 'requires_input' AND expires_at <= $2", order: "expires_at") + " RETURNING id",
          [most, .time(now)]
        ) { $0.text(0) }
        if !expired.isEmpty { try connection.tell(all: expired, at: now) }
        return expired.count
      }
      count.interrupted = try connection.atomically { () throws(StoreError) in
        let stale = try connection.rows(
          connection.change(
            "sessions", set: "status = 'failed', ended_at = consumed_at + $3, last_error = $4",
            where: "status = 'processing' AND consumed_at < $2", order: "consumed_at")
            + " RETURNING \(AuditEntry.interruptedColumns)",
          [
            most, .time(now - Limits.processingTimeout), .integer(Limits.processingTimeout + 1),
            .blob(StoredForm.encode(LastError.interrupted)),
          ]
        ) { (id: $0.text(0), entry: AuditEntry(interrupted: $0, at: now, mode: mode)) }
        if !stale.isEmpty {
          try connection.tell(all: stale.map(\.id), code: LastError.interrupted.code, at: now)
        }
        for session in stale { try connection.append(intact(session.entry, "an attempt"), to: node) }
        return stale.count
      }
      count.resultsErased = try connection.run(
        connection.change(
          "sessions", set: "waiting_result = NULL", where: "waiting_result IS NOT NULL AND result_expires_at <= $2",
          order: "result_expires_at"), most, .time(now))
      let replies = try connection.run(
        connection.change(
          "idempotency", key: "scope", set: "result = NULL",
          where: "result IS NOT NULL AND result_expires_at <= $2", order: "result_expires_at"), most, .time(now))
      count.valuesErased = try connection.atomically { () throws(StoreError) in
        try connection.eraseValues(at: now, most)
      }
      count.deliveriesAbandoned = try connection.run(
        connection.change(
          "deliveries", key: "event, endpoint", set: "status = 'dead', fault = $4, fault_status = NULL",
          where: "status = 'pending' AND begun <= $2 AND due <= $3", order: "begun"),
        most, .time(now - Limits.deliveryAbandonment), .time(now), .text(DeliveryFault.Reason.abandoned.rawValue))
      // Deliveries are deleted with their events (ON DELETE CASCADE).
      count.eventsDeleted = try connection.run(
        connection.change(
          "events", key: "seq",
          where: "seq IN (SELECT seq FROM events ORDER BY seq LIMIT $1) AND created <= $2", order: "seq"),
        most, .time(now - Limits.eventRetention))
      count.sessionsDeleted = try connection.run(
        connection.change(
          "sessions", where: "ended_at <= $2 AND next_erasure IS NULL", order: "ended_at"),
        most, .time(now - Limits.sessionRetention))
      count.verificationsDeleted = try connection.run(
        connection.change("verifications", key: "id", where: "ended_at <= $2", order: "ended_at"),
        most, .time(now - Limits.sessionRetention))
      count.idempotencyKeysDeleted = try connection.run(
        connection.change("idempotency", key: "scope", where: "begun <= $2", order: "begun"),
        most, .time(now - Limits.idempotencyLifetime))
      if count.resultsErased + replies + count.valuesErased + count.sessionsDeleted > 0 { connection.noteErasure() }
      return count
    }
  }
}

extension DatabaseConnection {
  /// SQL that updates the first `$1` rows that no other transaction has locked, or deletes them without `set`.
  /// MATERIALIZED selects the rows only once. Otherwise a plan could select further rows during the change. The default
  /// key is the session's key.
  fileprivate func change(
    _ table: String, key: String? = nil, set: String? = nil, where condition: String, order: String
  ) -> String {
    let key = key ?? Self.dialect.sessionKey
    let action = set.map { "UPDATE \(table) SET \($0)" } ?? "DELETE FROM \(table)"
    return """
      WITH picked AS MATERIALIZED (SELECT \(key) FROM \(table) WHERE \(condition) ORDER BY \(order) LIMIT $1
        \(Self.dialect.skipLocked))
      \(action) WHERE (\(key)) IN (SELECT \(key) FROM picked)
      """
  }

  fileprivate func eraseValues(at now: Timestamp, _ limit: SQLValue) throws(StoreError) -> Int {
    let due = try rows(
      """
      SELECT id, retained_result FROM sessions WHERE next_erasure <= $1 ORDER BY next_erasure LIMIT $2
      \(Self.dialect.skipLocked)
      """, [.time(now), limit]
    ) { (id: $0.text(0), stored: $0.optionalBlob(1)) }
    let less = { (bytes: String) in "bytes = CASE WHEN bytes > \(bytes) THEN bytes - \(bytes) ELSE 0 END" }
    for session in due {
      let (kept, erasesEvidence) = KeptValues.left(of: session.stored, at: now)
      try run(
        "UPDATE sessions SET retained_result = $2, next_erasure = $3, \(less("$4")) WHERE id = $1", .text(session.id),
        .blob(kept.stored), .time(kept.nextErasure), .integer((session.stored?.count ?? 0) - (kept.stored?.count ?? 0)))
      guard erasesEvidence else { continue }
      try run(
        """
        UPDATE sessions SET evidence = $2, evidence_bundle = NULL, \(less("coalesce(length(evidence_bundle), 0)"))
        WHERE id = $1 AND evidence IS NOT NULL
        """, .text(session.id), .text(EvidenceStatus.erased.rawValue))
    }
    return due.count
  }
}
