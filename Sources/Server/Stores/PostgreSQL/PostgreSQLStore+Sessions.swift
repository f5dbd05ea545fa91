import Base
import Sessions

extension PostgreSQLStore {
  package func create(
    _ session: SessionRecord, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) {
    let content = session.content.map { StoredForm.encode($0) }
    let requests = session.offers.map(\.data.bytes)
    let bytes = requests.reduce(content?.count ?? 0) { $0 + $1.count }
    let values: [PostgreSQLValue] = [
      .text(session.address.id.text), .text(session.address.relyingParty), .time(session.created),
      .time(session.expiresAt), .blob(session.clientSecretHash), .blob(content),
      .texts(session.offers.map(\.protocolName)), .blobs(requests), .blobs(session.offers.map(\.sealedMaterial)),
      .integer(Int64(bytes)),
    ]
    let insert = """
      INSERT INTO sessions (id, relying_party, created, expires_at, status, secret_hash, content, protocols,
        requests, materials, bytes)
      VALUES ($1, $2, $3, $4, 'requires_input', $5, $6, $7, $8, $9, $10)
      """
    try await pool.perform { connection throws(StoreError) in
      if let completion {
        // The session is new and cannot be redacted yet, so the reply is kept without that check.
        _ = try connection.query(
          "WITH added AS (\(insert)) \(Self.keepReply(from: 11))", values + Self.values(of: completion))
      } else {
        _ = try connection.query(insert, values)
      }
    }
  }

  /// One conditional update decides. The inner query locks the row and returns the material as it was before the
  /// update. Of two updates of one row, the later one sees what the earlier one has left. Only if nothing was changed
  /// is the reason looked up.
  ///
  /// Both queries find the row by its key, and the inner one is MATERIALIZED so that it runs once. Otherwise a plan
  /// that was made while the table was small could run it for each open session.
  package func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    let (row, isConsumed) = try await pool.perform { connection throws(StoreError) -> (SessionRow?, Bool) in
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
    guard let record = try row?.record() else { return .refused(.notFound) }
    if isConsumed { return .consumed(record) }
    return .refused(record.consumeRefusal(protocolName: protocolName, at: now) ?? .alreadyUsed)
  }

  package func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    let columns = OutcomeColumns(outcome)
    let entry = AuditEntry(of: outcome, at: now, mode: mode)
    let values: [PostgreSQLValue] =
      [
        .text(outcome.address.id.text), .text(outcome.address.relyingParty), .text(outcome.attempt.text),
        .time(now - Limits.processingTimeout), .type(columns.type), .time(now), .blob(columns.lastError),
        .integer(columns.results.expiresAt?.secondsSince1970), .blob(columns.results.waiting),
        .blob(columns.results.kept.stored), .text(columns.reportID), .blob(columns.report), .text(columns.errorCode),
        .text(columns.results.evidence?.rawValue), .blob(outcome.evidence),
        .integer(Int64(columns.bytes + (outcome.evidence?.count ?? 0))),
        .integer(columns.results.kept.nextErasure?.secondsSince1970), .text(outcome.result?.rawValue),
      ] + Self.values(of: entry, node)
    let update = """
      UPDATE sessions SET status = $5, ended_at = $6, last_error = $7, result_expires_at = $8, waiting_result = $9,
        retained_result = $10, report_id = $11, report = $12, evidence = $14, evidence_bundle = $15,
        bytes = bytes + $16, next_erasure = $17
      WHERE id = $1 AND relying_party = $2 AND status = 'processing' AND attempt = $3 AND consumed_at >= $4
      RETURNING id, relying_party
      """
    let tell = """
      INSERT INTO events (session_id, type, relying_party, created, error_code, result)
      SELECT id, $5, relying_party, $6, $13, $18 FROM recorded
      """
    let audit = Self.append(from: 19, where: "EXISTS (SELECT FROM recorded)")
    let statement =
      if let completion {
        PostgreSQLStatement(
          sql: """
            WITH recorded AS (\(update)), \(audit), kept AS (\(Self.keepReply(from: 23)) AND EXISTS (SELECT FROM recorded))
            \(tell)
            """, values: values + Self.values(of: completion))
      } else {
        PostgreSQLStatement(sql: "WITH recorded AS (\(update)), \(audit) \(tell)", values: values)
      }
    if try await outcomes.record(statement, of: outcome.address.id) { return .recorded }
    let row = try await pool.perform { connection throws(StoreError) in try connection.row(outcome.address) }
    return .superseded(try row?.record())
  }

  package func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    let (row, isChanged) = try await pool.perform { connection throws(StoreError) -> (SessionRow?, Bool) in
      let canceled = try connection.first(
        """
        WITH canceled AS (
          UPDATE sessions SET status = 'canceled', ended_at = $3, client_secret_hash = NULL, secret_hash = NULL,
            materials = NULL
          WHERE id = $1 AND relying_party = $2 AND status = 'requires_input' AND expires_at > $3
          RETURNING *),
        told AS (INSERT INTO events (session_id, type, relying_party, created) SELECT id, status, $2, $3 FROM canceled)
        SELECT \(SessionRow.columnsWithOffers) FROM canceled AS sessions
        """, .text(address.id.text), .text(address.relyingParty), .time(now), read: SessionRow.init)
      guard let canceled else { return (try connection.row(address), false) }
      return (canceled, true)
    }
    guard let record = try row?.record() else { return .notFound }
    return isChanged ? .changed(record) : .refused(record)
  }

  package func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    let (row, isChanged) = try await pool.perform {
      [node, mode] connection throws(StoreError) -> (SessionRow?, Bool) in
      try connection.transaction { connection throws(StoreError) in
        // The row is locked from here on. A reply that is kept meanwhile waits, and then sees that the session was
        // redacted.
        guard let before = try connection.row(address, "FOR UPDATE") else { return (nil, false) }
        let record = try before.record()
        if case .redacted = record.state { return (before, false) }
        // A failure that is only due to elapsed time is not yet written. It is kept here too, as its code.
        let lastError = record.state(at: now).lastError.map { StoredForm.encode($0.redacted) }
        let report = record.report.map { StoredForm.encode($0.redacted()) }
        let after = try connection.first(
          """
          UPDATE sessions SET status = 'redacted', ended_at = $2, client_secret_hash = NULL, secret_hash = NULL,
            content = NULL, protocols = NULL, requests = NULL, materials = NULL, last_error = $3, result_expires_at = NULL,
            waiting_result = NULL, retained_result = NULL, report = $4, evidence = NULL, evidence_bundle = NULL,
            bytes = coalesce(length($3), 0) + coalesce(length($4), 0),
            next_erasure = NULL
          WHERE id = $1 RETURNING \(SessionRow.columnsWithOffers)
          """, .text(address.id.text), .time(now), .blob(lastError), .blob(report), read: SessionRow.init)
        // A statement of its own also sees the replies that were kept before the session was locked.
        try connection.run(
          "UPDATE idempotency SET body = NULL, result = NULL, result_expires_at = NULL, bytes = 0 WHERE session = $1",
          .text(address.id.text))
        try connection.run(
          "INSERT INTO events (session_id, type, relying_party, created, error_code) VALUES ($1, $2, $3, $4, $5)",
          .text(address.id.text), .type(.redacted), .text(address.relyingParty), .time(now),
          .text(record.state(at: now).lastError?.code))
        if case .processing(let attempt) = record.state {
          let error = record.state(at: now).lastError
          try connection.write(AuditEntry(unfinished: attempt, of: address, error, at: now, mode: mode), to: node)
        }
        return (after, true)
      }
    }
    guard let record = try row?.record() else { return .notFound }
    return isChanged ? .changed(record) : .refused(record)
  }
}

extension PostgreSQLConnection {
  func row(_ address: SessionAddress, _ lock: String = "") throws(StoreError) -> SessionRow? {
    try first(
      "SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE id = $1 AND relying_party = $2 \(lock)",
      .text(address.id.text), .text(address.relyingParty), read: SessionRow.init)
  }
}

extension PostgreSQLValue {
  static func time(_ time: Timestamp) -> PostgreSQLValue { .integer(time.secondsSince1970) }
  static func type(_ type: EventType) -> PostgreSQLValue { .text(type.status.rawValue) }
}

extension PostgreSQLStore {
  package func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in try connection.row(address) }?.record()
  }

  package func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    let found = try await pool.perform { connection throws(StoreError) in
      try connection.rows(
        """
        SELECT id FROM sessions WHERE id = ANY ($1) AND (status = 'requires_input' AND expires_at > $2
          OR status = 'processing' AND consumed_at >= $3)
        """, .texts(ids.map(\.text)), .time(now), .time(now - Limits.processingTimeout)
      ) { $0.text(0) }
    }
    return Set(found.compactMap(SessionID.init))
  }

  package func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT 1 FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { _ in true } ?? false
    }
  }

  package func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await pool.perform { connection throws(StoreError) in
      guard let id else {
        return try connection.first(
          "SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE client_secret_hash = $1",
          .blob(clientSecretHash), read: SessionRow.init)
      }
      return try connection.first(
        "SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE sessions.id = $1 AND secret_hash = $2",
        .text(id.text), .blob(clientSecretHash), read: SessionRow.init)
    }?.record()
  }

  package func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    let report = try await pool.perform { connection throws(StoreError) in
      try connection.first(
        """
        SELECT report FROM sessions WHERE id = $1 AND relying_party = $3 AND report_id IS NULL
        UNION ALL SELECT report FROM sessions WHERE report_id = $2 AND relying_party = $3
        """, .text(id.session?.text), .text(id.text), .text(relyingParty)
      ) { $0.optionalBlob(0) }
    }
    guard let report = report ?? nil else { return nil }
    return try StoredForm.decode(ReportRecord.self, from: report)
  }

  package func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await pool.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT evidence_bundle FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.optionalBlob(0) } ?? nil
    }
  }

  /// The status in a filter is the one that a reader sees now: a session whose time is over counts as expired or
  /// failed, although that is not yet written.
  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let listing = SessionListing(query: query, dialect: Self.dialect)
    let found = try await pool.perform(.list) { connection throws(StoreError) -> [(row: SessionRow, found: Int)]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = $1 AND relying_party = $2", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let time = listing.time(at: now).map { [PostgreSQLValue.time($0)] } ?? []
      return try connection.rows(
        listing.sql, [.text(relyingParty), .integer(before), .integer(listing.rows)] + time
      ) { (row: SessionRow($0), found: Int($0.integer(SessionRow.width + 3))) }
    }
    guard let found else { return nil }
    return try SessionPage(rows: found.map(\.row), found: found.first?.found ?? 0, limit: query.limit)
  }

  private static let dialect = SessionListing.Dialect(
    mark: "$", key: "id", processingIndex: "",
    requestBytes: "(SELECT sum(length(request)) FROM unnest(requests) AS request)",
    // A list never shows the material.
    requestColumns: ["protocols", "requests", "NULL"])

  /// Counts from indexes alone, which hold all the columns that are needed.
  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    let usage = try await pool.perform(.list) { connection throws(StoreError) in
      try connection.first(
        """
        SELECT waiting.alive, waiting.bytes + ended.bytes, replies.bytes FROM
          (SELECT count(*) FILTER (WHERE expires_at > $2) AS alive,
            (coalesce(sum(bytes), 0) + count(*) * $3)::bigint AS bytes FROM sessions
            WHERE relying_party = $1 AND status = 'requires_input') AS waiting,
          (SELECT (coalesce(sum(bytes), 0) + count(*) * $3)::bigint AS bytes FROM sessions
            WHERE relying_party = $1 AND ended_at IS NOT NULL) AS ended,
          (SELECT (coalesce(sum(bytes), 0) + count(*) * $4)::bigint AS bytes FROM idempotency
            WHERE relying_party = $1 AND is_finished) AS replies
        """, .text(relyingParty), .time(now), .integer(StoreUsage.sessionOverhead),
        .integer(StoreUsage.replyOverhead)
      ) { StoreUsage(openSessions: $0.integer(0), bytes: $0.integer(1), idempotencyBytes: $0.integer(2)) }
    }
    return usage ?? StoreUsage()
  }
}

/// Reads sessions on a database thread. Offers are in the session's own row.
extension SessionRow {
  /// Reads a row that begins with `columnsWithOffers`, or with `columns` and three columns of offers by other names.
  init(_ row: PostgreSQLRow) {
    self.init(columnsOf: row)
    offers = Self.offers(row.texts(18), row.blobs(19), row.blobs(20))
  }
}
