import Base
import Sessions

/// Sessions in a PostgreSQL database that any number of nodes can share.
///
/// Each decision is one SQL statement, so two nodes cannot consume the same challenge. Creating a session and consuming
/// its challenge take one round trip each. The node's clock gives the time. Without a connection, every call throws
/// `unavailable`.
package struct PostgreSQLStore: DatabaseStore {
  /// Number of connections per node. More connections do not commit faster, since all share the database's cores and
  /// disk.
  package static let connections = 8

  package let mode: ServerMode
  package let node: NodeName
  package var observer: (any StoreObserver)?
  private let parts: Parts

  /// Stops the pool when the last store that uses it is deallocated.
  private final class Parts: Sendable {
    let pool: PostgreSQLPool
    let outcomes: OutcomeQueue
    /// The time until which a probe does not write again; nil before the first probe.
    let proved = Locked<Deadline?>(nil)

    init(_ pool: PostgreSQLPool) {
      self.pool = pool
      outcomes = OutcomeQueue(pool)
    }

    deinit { pool.stop() }
  }

  /// Connects, and checks that the database has this version's schema. Blocks: call it at the program's start.
  package init(
    _ address: PostgreSQLAddress, mode: ServerMode, node: NodeName = .standard, connections: Int = connections
  ) throws(StoreError) {
    self.mode = mode
    self.node = node
    let first = try PostgreSQLConnection(address)
    let schema = StoreSchema.postgreSQL
    let isPrepared = try first.first("SELECT to_regclass('migrations') IS NOT NULL") { $0.integer(0) != 0 }
    guard isPrepared == true else { throw .olderSchema(found: 0, known: schema.version) }
    try schema.check(first, mode: mode)
    parts = Parts(try PostgreSQLPool(address, size: connections, first: first))
  }

  /// Upgrades the database to this version's schema, and records the mode of a new database. Blocks. Concurrent calls
  /// take turns.
  package static func migrate(_ address: PostgreSQLAddress, mode: ServerMode) throws(StoreError) {
    let connection = try PostgreSQLConnection(address)
    try connection.allowMinutes()
    // The advisory lock "mdoc", in ASCII.
    try StoreSchema.postgreSQL.prepare(connection, mode: mode, lock: "SELECT pg_advisory_xact_lock(\(0x6d64_6f63))")
  }

  package func perform<Value: Sendable>(
    _ lane: Lane, _ body: @escaping @Sendable (PostgreSQLConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await parts.pool.perform(lane, body)
  }

  /// Checks whether the disk is full or the server is a standby, with at most one write per second.
  package func probe() async throws(StoreError) {
    let isDue = parts.proved.withLock { $0?.isPast ?? true }
    _ = try await perform("probe", .write) { connection throws(StoreError) in
      try connection.run(isDue ? "UPDATE mode SET name = name" : "SELECT 1")
    }
    if isDue { parts.proved.withLock { $0 = Deadline(in: .seconds(1)) } }
  }

  package func close() async { await parts.pool.close() }

  /// Consumes the challenge with one conditional update. Looks up the reason for a refusal only if the update changes
  /// nothing. The inner query locks the row and returns the material from before the update. It is MATERIALIZED so that
  /// it runs once. Otherwise a plan made for a small table could run it for each open session.
  package func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    let (row, isConsumed) = try await perform("consume", .write) {
      connection throws(StoreError) -> (SessionRow?, Bool) in
      let taken = try connection.first(
        """
        WITH old AS MATERIALIZED (
          SELECT id AS held, materials AS taken FROM sessions WHERE id = $1 AND relying_party = $2 FOR UPDATE)
        UPDATE sessions SET status = 'processing', attempt = $3, attempt_protocol = $5, consumed_at = $4,
          materials = NULL
        FROM old
        WHERE sessions.id = $1 AND old.held = $1 AND status = 'requires_input' AND expires_at > $4
          AND $5 = ANY (protocols)
        RETURNING \(SessionRow.columns), protocols, requests, old.taken
        """,
        .text(address.id.text), .text(address.relyingParty), .text(attempt.text), .time(now), .text(protocolName),
        read: SessionRow.init)
      guard let taken else { return (try connection.row(address), false) }
      return (taken, true)
    }
    guard let record = try row?.record() else { return .refused(.sessionNotFound) }
    if isConsumed { return .consumed(record) }
    return .refused(record.consumeRefusal(protocolName: protocolName, at: now) ?? .sessionAlreadyUsed)
  }

  /// Records the outcome with one statement in one round trip. The statement is committed with the next group of
  /// outcomes.
  package func record(
    _ change: OutcomeChange, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> Bool {
    let isRecorded = "EXISTS (SELECT FROM recorded)"
    let kept = completion == nil ? "" : ", kept AS (\(PostgreSQLConnection.keepReply(from: 23)) AND \(isRecorded))"
    let values =
      change.values + [.text(change.errorCode), .text(change.result?.rawValue)]
      + PostgreSQLConnection.values(of: change.entry, node)
    let statement = PostgreSQLStatement(
      sql: """
        WITH recorded AS (\(OutcomeChange.update) RETURNING id, relying_party),
        \(PostgreSQLConnection.append(from: 19, where: isRecorded))\(kept)
        INSERT INTO events (session_id, type, relying_party, created, error_code, result)
        SELECT id, $5, relying_party, $6, $17, $18 FROM recorded
        """, values: values + (completion?.values ?? []))
    return try await parts.outcomes.record(statement, of: change.session)
  }

  // MARK: Outbox

  /// Concurrent calls share the events. Each node skips rows that another node has locked.
  package func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    let wanted = subscriptions.flatMap { subscription in subscription.types.map { (subscription.address, $0) } }
    return try await perform("distribute_events", .write) { connection throws(StoreError) in
      try connection.first(
        """
        WITH new AS MATERIALIZED (SELECT seq FROM events WHERE NOT is_distributed
          ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED),
        taken AS (UPDATE events SET is_distributed = true FROM new WHERE events.seq = new.seq
          RETURNING events.seq, relying_party, type),
        made AS (INSERT INTO deliveries (event, endpoint, relying_party, status, attempts, begun, due)
          SELECT seq, endpoint, relying_party, 'pending', 0, $2, $2
          FROM taken JOIN unnest($3, $4, $5) AS wanted (relying_party, endpoint, type) USING (relying_party, type))
        SELECT count(*) FROM taken
        """, .integer(limit), .time(now), .texts(wanted.map(\.0.relyingParty)), .texts(wanted.map(\.0.endpoint)),
        .texts(wanted.map(\.1.status.rawValue))
      ) { Int($0.integer(0)) } ?? 0
    }
  }

  /// Claims deliveries for all quotas in one statement. Skips deliveries that another node is claiming at the same
  /// time.
  package func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    let rows = try await perform("claim_deliveries", .write) { connection throws(StoreError) in
      try connection.rows(
        """
        WITH ready AS MATERIALIZED (
          SELECT event, endpoint, ordinal, was FROM unnest($1, $2, $3) WITH ORDINALITY AS quota (party, target, most, ordinal)
          CROSS JOIN LATERAL (SELECT event, endpoint, due AS was FROM deliveries
            WHERE relying_party = party AND endpoint = target AND status = 'pending' AND due <= $4
            ORDER BY due LIMIT most FOR UPDATE SKIP LOCKED) AS found
          ORDER BY ordinal, was LIMIT $5),
        claimed AS (UPDATE deliveries SET attempts = attempts + 1, due = $6 FROM ready
          WHERE deliveries.event = ready.event AND deliveries.endpoint = ready.endpoint
          RETURNING deliveries.*, ordinal, was)
        SELECT \(DeliveryRecord.columns(PostgreSQLConnection.dialect)) FROM claimed AS deliveries JOIN events ON events.seq = deliveries.event
        ORDER BY ordinal, was
        """,
        [
          .texts(quotas.map(\.address.relyingParty)), .texts(quotas.map(\.address.endpoint)),
          .integers(quotas.map { Int64($0.limit) }), .time(now), .integer(limit), .time(now + Limits.deliveryLease),
        ]
      ) { DeliveryRecord($0) }
    }
    return try intact(all: rows, "a delivery")
  }
}

extension PostgreSQLConnection {
  package func run(
    _ sql: String, _ values: [SQLValue], finishing completion: IdempotencyCompletion?
  ) throws(StoreError) {
    if let completion {
      // The session is new and cannot be redacted yet. The reply is stored without a check for redaction.
      try run("WITH changed AS (\(sql)) \(Self.keepReply(from: values.count + 1))", values + completion.values)
    } else {
      try run(sql, values)
    }
  }

  /// SQL that stores a reply, unless another request has taken over the claim. Its six values begin at `$first`.
  static func keepReply(from first: Int) -> String {
    """
    UPDATE idempotency SET is_finished = true, session = $\(first), body = $\(first + 1), result = $\(first + 2),
      result_expires_at = $\(first + 3), bytes = coalesce(length($\(first + 1)), 0)
    WHERE scope = $\(first + 4) AND token = $\(first + 5)
    """
  }

  // MARK: Audit

  /// Two common table expressions for a statement that changes a session. They advance the node's head, lock the head
  /// until the commit, and add the entry. The database computes the chain's hash (`AuditHead`), since only the database
  /// knows the preceding head.
  ///
  /// - Parameter parameter: the number of the first parameter. `values(of:_:)` returns the four values.
  static func append(from parameter: Int, where condition: String) -> String {
    let (node, entry, first, party) = (
      "$\(parameter)", "$\(parameter + 1)", "$\(parameter + 2)", "$\(parameter + 3)"
    )
    return """
      linked AS (INSERT INTO audit_heads AS heads (node, sequence, hash) SELECT \(node), 1, \(first) WHERE \(condition)
        ON CONFLICT (node) DO UPDATE SET sequence = heads.sequence + 1,
          hash = sha256(heads.hash || int8send(heads.sequence + 1) || \(entry))
        RETURNING node, sequence, hash),
      audited AS (INSERT INTO audit (node, sequence, entry, hash, relying_party)
        SELECT node, sequence, \(entry), hash, \(party) FROM linked)
      """
  }

  /// Four values: the node, the entry, its hash as the node's first entry, and the relying party.
  static func values(of entry: AuditEntry, _ node: NodeName) -> [SQLValue] {
    let first = AuditLink(entry, after: AuditHead(beginning: node))
    return [.text(node.text), .blob(first.entry), .blob(first.head.hash), .text(entry.address.relyingParty)]
  }

  package func append(_ entry: AuditEntry, to node: NodeName) throws(StoreError) {
    try run(
      "WITH \(Self.append(from: 1, where: "true")) SELECT sequence FROM linked", Self.values(of: entry, node))
  }

  package func auditHeads(of relyingParty: String?) throws(StoreError) -> [AuditHead] {
    let all = "SELECT sequence, hash, node FROM audit_heads ORDER BY node"
    let own = """
      SELECT last.sequence, last.hash, heads.node FROM audit_heads AS heads CROSS JOIN LATERAL (
        SELECT sequence, hash FROM audit WHERE relying_party = $1 AND audit.node = heads.node
        ORDER BY sequence DESC LIMIT 1) AS last
      ORDER BY heads.node
      """
    let heads = try rows(relyingParty == nil ? all : own, relyingParty.map { [.text($0)] } ?? []) { row in
      NodeName(row.text(2)).map { AuditHead($0, row) }
    }
    return try intact(all: heads, "a node's name")
  }

  package func noteErasure() {}
}
