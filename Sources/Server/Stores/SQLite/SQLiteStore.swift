import Base
import Sessions

/// Sessions in one SQLite file. It has three threads: one writes and commits in groups, one reads single rows, and one
/// reads lists. So a slow list delays no write and no read of a single row.
///
/// A consumed challenge survives power loss (`synchronous = FULL`). Erased data leave the file and its log
/// (`secure_delete`, truncated log). A fault of the disk is `unavailable`, with nothing half-done.
package final class SQLiteStore: SessionStore {
  package let mode: ServerMode
  /// The node of this process: audit entries are appended to its chain.
  package let node: NodeName
  let writer: DatabaseThread
  let reader: DatabaseThread
  let lister: DatabaseThread

  /// Opens or makes the file, and brings it to this version's schema. Blocks, so it is called at the program's start
  /// and not in a task.
  package convenience init(path: String, mode: ServerMode, node: NodeName = .standard) throws(StoreError) {
    let writing = try SQLiteConnection(path: path, role: .writer)
    try SQLiteSchema.prepare(writing, mode: mode)
    try self.init(path: path, mode: mode, node: node, writer: DatabaseThread(writing, role: .writer))
  }

  /// - Parameter writer: the thread of a connection to the file, which already has this version's schema.
  init(path: String, mode: ServerMode, node: NodeName = .standard, writer: DatabaseThread) throws(StoreError) {
    self.mode = mode
    self.node = node
    self.writer = writer
    // Opened after the schema was made: a reader cannot make the file.
    let reading = try SQLiteConnection(path: path, role: .reader)
    let listing = try SQLiteConnection(path: path, role: .reader)
    reader = try DatabaseThread(reading, role: .reader)
    lister = try DatabaseThread(listing, role: .reader)
  }

  deinit {
    writer.stop()
    reader.stop()
    lister.stop()
  }

  package func probe() async throws(StoreError) {
    _ = try await reader.perform { connection throws(StoreError) in
      try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
    }
    try await writer.perform { connection throws(StoreError) in try connection.proveWritable() }
  }

  package func close() async {
    await reader.close()
    await lister.close()
    await writer.close()
  }
}

extension SQLiteStore {
  package func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    let interrupted = StoredForm.encode(LastError.interrupted)
    let limit = SQLiteValue.integer(Int64(limit))
    return try await writer.perform { [node, mode] connection throws(StoreError) in
      var count = SweepCount()
      let expired = try connection.rows(
        """
        UPDATE sessions SET status = 'expired', ended_at = expires_at, materials = NULL WHERE seq IN
          (SELECT seq FROM sessions WHERE status = 'requires_input' AND expires_at <= ? LIMIT ?)
        RETURNING seq, id, relying_party
        """, [.time(now), limit]
      ) { (seq: $0.integer(0), id: $0.text(1), relyingParty: $0.text(2)) }
      for session in expired {
        try connection.tell(session.seq, id: session.id, of: session.relyingParty, .expired, at: now)
      }
      count.expired = expired.count
      let stale = try connection.rows(
        """
        UPDATE sessions SET status = 'failed', ended_at = consumed_at + ?, last_error = ? WHERE seq IN
          (SELECT seq FROM sessions WHERE status = 'processing' AND consumed_at < ? LIMIT ?)
        RETURNING \(InterruptedRow.columns), seq
        """,
        [
          .integer(Limits.processingTimeout + 1), .blob(interrupted), .time(now - Limits.processingTimeout), limit,
        ]
      ) { (session: InterruptedRow($0), seq: $0.integer(5)) }
      for (session, seq) in stale {
        try connection.tell(
          seq, id: session.id, of: session.relyingParty, .failed, code: LastError.interrupted.code, at: now)
        try connection.write(session.entry(at: now, mode: mode), to: node)
      }
      count.interrupted = stale.count
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
      count.valuesErased = try connection.eraseValues(at: now, limit: limit)
      try connection.sweepEvents(at: now, limit: limit, &count)
      // The session's remaining events are deleted with it (ON DELETE CASCADE).
      count.sessionsDeleted = try connection.run(
        "DELETE FROM sessions WHERE seq IN (SELECT seq FROM sessions WHERE ended_at <= ? AND next_erasure IS NULL LIMIT ?)",
        .time(now - Limits.sessionRetention), limit)
      count.idempotencyKeysDeleted = try connection.run(
        "DELETE FROM idempotency WHERE scope IN (SELECT scope FROM idempotency WHERE begun <= ? LIMIT ?)",
        .time(now - Limits.idempotencyLifetime), limit)
      if count.resultsErased + repliesErased + count.valuesErased + count.sessionsDeleted > 0 {
        connection.log.isDue = true
      }
      return count
    }
  }
}

extension SQLiteConnection {
  /// Erases retained values and evidence that have reached the end of their retention.
  fileprivate func eraseValues(at now: Timestamp, limit: SQLiteValue) throws(StoreError) -> Int {
    let due = try rows(
      "SELECT seq, retained_result FROM sessions WHERE next_erasure <= ? LIMIT ?", [.time(now), limit]
    ) { (seq: $0.integer(0), stored: $0.optionalBlob(1)) }
    for session in due {
      let (kept, erasesEvidence) = KeptValues.left(of: session.stored, at: now)
      try run(
        "UPDATE sessions SET retained_result = ?, next_erasure = ?, bytes = max(0, bytes - ?) WHERE seq = ?",
        .optional(kept.stored), .optional(kept.nextErasure?.secondsSince1970),
        .integer(Int64((session.stored?.count ?? 0) - (kept.stored?.count ?? 0))), .integer(session.seq))
      guard erasesEvidence else { continue }
      try run(
        """
        UPDATE sessions SET evidence = ?, evidence_bundle = NULL,
          bytes = max(0, bytes - coalesce(length(evidence_bundle), 0)) WHERE seq = ? AND evidence IS NOT NULL
        """, .text(EvidenceStatus.erased.rawValue), .integer(session.seq))
    }
    return due.count
  }

  fileprivate func sweepEvents(at now: Timestamp, limit: SQLiteValue, _ count: inout SweepCount) throws(StoreError) {
    count.deliveriesAbandoned = try run(
      """
      UPDATE deliveries SET status = 'dead', fault = ?, fault_status = NULL WHERE (event, endpoint) IN
        (SELECT event, endpoint FROM deliveries WHERE status = 'pending' AND begun <= ? AND due <= ? LIMIT ?)
      """, .text(DeliveryFault.Reason.abandoned.rawValue), .time(now - Limits.deliveryAbandonment), .time(now), limit)
    // Deliveries are deleted with their events (ON DELETE CASCADE).
    count.eventsDeleted = try run(
      "DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?) AND created <= ?",
      limit, .time(now - Limits.eventRetention))
  }
}
