import Base
import Sessions

/// Sessions in one SQLite file. One thread writes and commits in groups, and one reads single rows. A third thread
/// reads lists, so that a slow list delays nothing else.
///
/// A consumed challenge survives power loss (`synchronous = FULL`). Erasure removes data from the file and its log
/// (`secure_delete`, truncated log). On a disk error a call throws `unavailable` and changes nothing.
package struct SQLiteStore: DatabaseStore {
  package let mode: ServerMode
  package let node: NodeName
  package var observer: (any StoreObserver)?
  private let threads: Threads

  /// Stops the threads when the last store that uses them is deallocated.
  private final class Threads: Sendable {
    let writer: DatabaseThread
    let reader: DatabaseThread
    let lister: DatabaseThread

    init(_ writer: DatabaseThread, _ reader: DatabaseThread, _ lister: DatabaseThread) {
      self.writer = writer
      self.reader = reader
      self.lister = lister
    }

    deinit { for thread in [writer, reader, lister] { thread.stop() } }
  }

  var writer: DatabaseThread { threads.writer }
  var lister: DatabaseThread { threads.lister }

  /// Opens or makes the file, and upgrades it to this version's schema. Blocks: call it at the program's start.
  package init(path: String, mode: ServerMode, node: NodeName = .standard) throws(StoreError) {
    let writing = try SQLiteConnection(path: path, role: .writer)
    try StoreSchema.sqlite.prepare(writing, mode: mode)
    try self.init(path: path, mode: mode, node: node, writer: DatabaseThread(writing))
  }

  /// - Parameter writer: the thread of a connection to the file. The file already has this version's schema.
  init(path: String, mode: ServerMode, node: NodeName = .standard, writer: DatabaseThread) throws(StoreError) {
    self.mode = mode
    self.node = node
    // Open the readers after the schema exists, since a reader cannot create the file.
    let reader = try DatabaseThread(SQLiteConnection(path: path, role: .reader))
    threads = Threads(writer, reader, try DatabaseThread(SQLiteConnection(path: path, role: .reader)))
  }

  package func perform<Value: Sendable>(
    _ lane: Lane, _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    switch lane {
    case .write: try await threads.writer.perform(body)
    case .read: try await threads.reader.perform(body)
    case .list: try await threads.lister.perform(body)
    }
  }

  package func probe() async throws(StoreError) {
    try await measured("probe") { () async throws(StoreError) in
      _ = try await perform(.read) { connection throws(StoreError) in
        try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
      }
      try await perform(.write) { connection throws(StoreError) in try connection.proveWritable() }
    }
  }

  package func close() async {
    await threads.reader.close()
    await threads.lister.close()
    await threads.writer.close()
  }

  /// Reads the row with its material in a write transaction. If the challenge is open, consumes it in the same
  /// transaction.
  package func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    let (row, isConsumed) = try await perform("consume", .write) {
      connection throws(StoreError) -> (SessionRow?, Bool) in
      guard let row = try connection.row(address) else { return (nil, false) }
      let changed = try connection.run(
        """
        UPDATE sessions SET status = 'processing', attempt = $1, attempt_protocol = $2, consumed_at = $3,
          materials = NULL
        WHERE seq = $4 AND status = 'requires_input' AND expires_at > $3
          AND instr(char(10) || protocols || char(10), char(10) || $2 || char(10)) > 0
        """, .text(attempt.text), .text(protocolName), .time(now), .integer(row.seq))
      // The stored row no longer contains the material. From here on, only the caller has it.
      return (row, changed > 0)
    }
    guard var record = try row?.record() else { return .refused(.sessionNotFound) }
    guard isConsumed else {
      return .refused(record.consumeRefusal(protocolName: protocolName, at: now) ?? .sessionAlreadyUsed)
    }
    record.state = .processing(.init(id: attempt, protocolName: protocolName, startedAt: now))
    return .consumed(record)
  }

  package func record(
    _ change: OutcomeChange, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> Bool {
    try await perform(.write) { [node] connection throws(StoreError) in
      guard try connection.run(OutcomeChange.update, change.values) > 0 else { return false }
      try connection.tell(change.session, code: change.errorCode, result: change.result, at: change.now)
      try connection.append(change.entry, to: node)
      if let completion { try connection.finish(completion) }
      return true
    }
  }

  // MARK: Outbox

  package func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    let subscriptions = Dictionary(grouping: subscriptions, by: \.address.relyingParty)
    return try await perform("distribute_events", .write) { connection throws(StoreError) in
      let events = try connection.rows(
        """
        SELECT seq, relying_party, type FROM events WHERE seq > (SELECT distributed FROM outbox) ORDER BY seq LIMIT $1
        """, [.integer(limit)]
      ) { (seq: $0.integer(0), relyingParty: $0.text(1), type: $0.text(2)) }
      for event in events {
        for subscription in subscriptions[event.relyingParty] ?? []
        where subscription.types.contains(where: { $0.status.rawValue == event.type }) {
          try connection.run(
            """
            INSERT INTO deliveries (event, endpoint, relying_party, status, attempts, begun, due)
            VALUES ($1, $2, $3, 'pending', 0, $4, $4)
            """, .integer(event.seq), .text(subscription.address.endpoint), .text(event.relyingParty), .time(now))
        }
      }
      if let last = events.last { try connection.run("UPDATE outbox SET distributed = $1", .integer(last.seq)) }
      return events.count
    }
  }

  package func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    let rows = try await perform("claim_deliveries", .write) { connection throws(StoreError) in
      var claimed: [DeliveryRecord?] = []
      for quota in quotas where claimed.count < limit {
        let due = try connection.rows(
          """
          SELECT \(DeliveryRecord.columns(SQLiteConnection.dialect)) FROM \(DeliveryRecord.tables)
          WHERE deliveries.relying_party = $1 AND endpoint = $2 AND status = 'pending' AND due <= $3
          ORDER BY due LIMIT $4
          """,
          [
            .text(quota.address.relyingParty), .text(quota.address.endpoint), .time(now),
            .integer(min(quota.limit, limit - claimed.count)),
          ]
        ) { (event: $0.integer(8), record: DeliveryRecord($0)) }
        for (event, record) in due {
          var record = record
          record?.attempts += 1
          record?.due = now + Limits.deliveryLease
          try connection.run(
            "UPDATE deliveries SET attempts = attempts + 1, due = $1 WHERE event = $2 AND endpoint = $3",
            .time(now + Limits.deliveryLease), .integer(event), .text(quota.address.endpoint))
          claimed.append(record)
        }
      }
      return claimed
    }
    return try intact(all: rows, "a delivery")
  }
}

/// Reads the audit entries of a store's file without a server, and changes nothing.
package final class SQLiteAuditReader: DatabaseReader {
  package let observer: (any StoreObserver)? = nil
  private let reader: DatabaseThread

  /// Opens the file. Blocks. Throws if it is not a store's file, or has another version's schema.
  package init(path: String) throws(StoreError) {
    let connection = try SQLiteConnection(path: path, role: .reader)
    try StoreSchema.sqlite.check(connection)
    reader = try DatabaseThread(connection)
  }

  deinit { reader.stop() }

  package func perform<Value: Sendable>(
    _ lane: Lane, _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await reader.perform(body)
  }
}
