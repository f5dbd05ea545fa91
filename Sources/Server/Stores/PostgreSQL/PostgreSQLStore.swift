import Base
import Sessions

/// Sessions in a PostgreSQL database, which any number of nodes share.
///
/// Each decision is one statement, so if two nodes take the same challenge, one of them gets it. To create a session
/// and to consume a challenge take one round trip each. Time is always the node's, never the database's. A lost
/// connection is made again by itself; until then every call is `unavailable`, and nothing that was acknowledged is
/// lost.
package final class PostgreSQLStore: SessionStore {
  /// Connections of one node. More would not commit faster, since all share the database's cores and disk.
  package static let connections = 8

  package let mode: ServerMode
  /// The node of this process: audit entries are appended to its chain.
  package let node: NodeName
  let pool: PostgreSQLPool
  let outcomes: OutcomeLine
  /// Until this time a probe does not write again; nil before the first one.
  private let proved = Locked<Deadline?>(nil)

  /// Connects and checks that the schema is this version's. Blocks, so it is called at the program's start and not in a
  /// task.
  package init(
    _ address: PostgreSQLAddress, mode: ServerMode, node: NodeName = .standard, connections: Int = connections
  ) throws(StoreError) {
    self.mode = mode
    self.node = node
    let first = try PostgreSQLConnection(address)
    try PostgreSQLSchema.check(first, mode: mode)
    pool = try PostgreSQLPool(address, size: connections, first: first)
    outcomes = OutcomeLine(pool)
  }

  /// Brings the database to this version's schema, and fixes the mode that it serves from then on. Blocks. Several
  /// calls at once take turns.
  package static func migrate(_ address: PostgreSQLAddress, mode: ServerMode) throws(StoreError) {
    try PostgreSQLSchema.prepare(PostgreSQLConnection(address), mode: mode)
  }

  deinit { pool.stop() }

  /// Writes, to find out whether the disk is full or the server is a standby. Writes at most once a second, since
  /// anybody may request a probe.
  package func probe() async throws(StoreError) {
    let isDue = proved.withLock { $0?.isPast ?? true }
    _ = try await pool.perform { connection throws(StoreError) in
      if isDue { try connection.run("UPDATE mode SET name = name") } else { try connection.run("SELECT 1") }
    }
    if isDue { proved.withLock { $0 = Deadline(in: .seconds(1)) } }
  }

  package func close() async { await pool.close() }
}

extension PostgreSQLStore {
  /// Sweeps each kind of row in a transaction of its own. It skips rows that another transaction has locked, so it
  /// waits for no request and for no other node's sweep.
  package func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    let interrupted = StoredForm.encode(LastError.interrupted)
    let limit = PostgreSQLValue.integer(Int64(limit))
    return try await pool.perform { [node, mode] connection throws(StoreError) in
      var count = SweepCount()
      count.expired = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE status = 'requires_input' AND expires_at <= $1
          ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED),
        ended AS (UPDATE sessions SET status = 'expired', ended_at = expires_at, materials = NULL
          FROM due WHERE sessions.id = due.id RETURNING sessions.id, status, relying_party)
        INSERT INTO events (session_id, type, relying_party, created) SELECT id, status, relying_party, $1 FROM ended
        """, .time(now), limit)
      count.interrupted = try connection.transaction { connection throws(StoreError) in
        let stale = try connection.rows(
          """
          WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE status = 'processing' AND consumed_at < $1
            ORDER BY consumed_at LIMIT $2 FOR UPDATE SKIP LOCKED),
          ended AS (UPDATE sessions SET status = 'failed', ended_at = consumed_at + $3, last_error = $4
            FROM due WHERE sessions.id = due.id
            RETURNING sessions.id, status, relying_party, attempt, attempt_protocol, consumed_at),
          told AS (INSERT INTO events (session_id, type, relying_party, created, error_code)
            SELECT id, status, relying_party, $5, $6 FROM ended)
          SELECT \(InterruptedRow.columns) FROM ended
          """, .time(now - Limits.processingTimeout), limit, .integer(Limits.processingTimeout + 1),
          .blob(interrupted), .time(now), .text(LastError.interrupted.code)
        ) { InterruptedRow($0) }
        for session in stale { try connection.write(session.entry(at: now, mode: mode), to: node) }
        return stale.count
      }
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
      count.valuesErased = try connection.transaction { connection throws(StoreError) in
        try connection.eraseValues(at: now, limit: limit)
      }
      count.sessionsDeleted = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE ended_at <= $1 AND next_erasure IS NULL
          ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM sessions USING due WHERE sessions.id = due.id
        """, .time(now - Limits.sessionRetention), limit)
      count.idempotencyKeysDeleted = try connection.run(
        """
        WITH due AS MATERIALIZED (SELECT scope FROM idempotency WHERE begun <= $1
          ORDER BY begun LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM idempotency USING due WHERE idempotency.scope = due.scope
        """, .time(now - Limits.idempotencyLifetime), limit)
      try connection.sweepEvents(at: now, limit: limit, &count)
      return count
    }
  }
}

extension PostgreSQLConnection {
  /// Erases retained values and evidence that have reached the end of their retention.
  fileprivate func eraseValues(at now: Timestamp, limit: PostgreSQLValue) throws(StoreError) -> Int {
    let due = try rows(
      """
      SELECT id, retained_result FROM sessions WHERE next_erasure <= $1
      ORDER BY next_erasure LIMIT $2 FOR UPDATE SKIP LOCKED
      """, .time(now), limit
    ) { (id: $0.text(0), stored: $0.optionalBlob(1)) }
    for session in due {
      let (kept, erasesEvidence) = KeptValues.left(of: session.stored, at: now)
      try run(
        "UPDATE sessions SET retained_result = $2, next_erasure = $3, bytes = greatest(0, bytes - $4) WHERE id = $1",
        .text(session.id), .blob(kept.stored), .integer(kept.nextErasure?.secondsSince1970),
        .integer(Int64((session.stored?.count ?? 0) - (kept.stored?.count ?? 0))))
      guard erasesEvidence else { continue }
      try run(
        """
        UPDATE sessions SET evidence = $2, evidence_bundle = NULL,
          bytes = greatest(0, bytes - coalesce(length(evidence_bundle), 0)) WHERE id = $1 AND evidence IS NOT NULL
        """, .text(session.id), .text(EvidenceStatus.erased.rawValue))
    }
    return due.count
  }

  fileprivate func sweepEvents(
    at now: Timestamp, limit: PostgreSQLValue, _ count: inout SweepCount
  ) throws(StoreError) {
    count.deliveriesAbandoned = try run(
      """
      WITH old AS MATERIALIZED (SELECT event, endpoint FROM deliveries
        WHERE status = 'pending' AND begun <= $1 AND due <= $2 ORDER BY begun LIMIT $3 FOR UPDATE SKIP LOCKED)
      UPDATE deliveries SET status = 'dead', fault = $4, fault_status = NULL
      FROM old WHERE deliveries.event = old.event AND deliveries.endpoint = old.endpoint
      """, .time(now - Limits.deliveryAbandonment), .time(now), limit, .text(DeliveryFault.Reason.abandoned.rawValue))
    // Deliveries are deleted with their events (ON DELETE CASCADE).
    count.eventsDeleted = try run(
      """
      WITH old AS MATERIALIZED (SELECT seq FROM events
        WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT $2) AND created <= $1 FOR UPDATE SKIP LOCKED)
      DELETE FROM events USING old WHERE events.seq = old.seq
      """, .time(now - Limits.eventRetention), limit)
  }
}
