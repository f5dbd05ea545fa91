import Base
import Sessions

extension SQLiteStore {
  package func create(
    _ session: SessionRecord, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) {
    let content = session.content.map { StoredForm.encode($0) }
    let requests = OfferLines.requests(session.offers)
    let values: [SQLiteValue] = [
      .text(session.address.id.text), .text(session.address.relyingParty), .time(session.created),
      .time(session.expiresAt), .optional(session.clientSecretHash), .optional(content),
      .text(OfferLines.protocols(session.offers)), .blob(requests), .optional(OfferLines.materials(session.offers)),
      .integer(Int64((content?.count ?? 0) + requests.count)),
    ]
    try await writer.perform { connection throws(StoreError) in
      try connection.run(
        """
        INSERT INTO sessions (id, relying_party, created, expires_at, status, secret_hash, content, protocols, requests,
          materials, bytes)
        VALUES (?, ?, ?, ?, 'requires_input', ?, ?, ?, ?, ?, ?)
        """, values)
      try connection.finish(completion)
    }
  }

  /// Reads the row with its material and, if the challenge is open, changes it. Both happen in one write transaction,
  /// so no other writer comes in between.
  package func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    let (row, isConsumed) = try await writer.perform { connection throws(StoreError) -> (SessionRow?, Bool) in
      guard let row = try connection.row(address) else { return (nil, false) }
      let changed = try connection.run(
        """
        UPDATE sessions SET status = 'processing', attempt = ?, attempt_protocol = ?, consumed_at = ?, materials = NULL
        WHERE seq = ? AND status = 'requires_input' AND expires_at > ?
          AND instr(char(10) || protocols || char(10), char(10) || ? || char(10)) > 0
        """,
        .text(attempt.text), .text(protocolName), .time(now), .integer(row.seq), .time(now), .text(protocolName))
      // The row keeps no material; from here on only the caller has it.
      return (row, changed > 0)
    }
    guard var record = try row?.record() else { return .refused(.notFound) }
    guard isConsumed else {
      return .refused(record.consumeRefusal(protocolName: protocolName, at: now) ?? .alreadyUsed)
    }
    record.state = .processing(.init(id: attempt, protocolName: protocolName, startedAt: now))
    return .consumed(record)
  }

  package func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    let columns = OutcomeColumns(outcome)
    let values: [SQLiteValue] = [
      .type(columns.type), .time(now), .optional(columns.lastError),
      .optional(columns.results.expiresAt?.secondsSince1970), .optional(columns.results.waiting),
      .optional(columns.results.kept.stored), .optional(columns.reportID), .optional(columns.report),
      .optional(columns.results.evidence?.rawValue), .optional(outcome.evidence),
      .integer(Int64(columns.bytes + (outcome.evidence?.count ?? 0))),
      .optional(columns.results.kept.nextErasure?.secondsSince1970),
      .text(outcome.address.id.text), .text(outcome.address.relyingParty), .text(outcome.attempt.text),
      .time(now - Limits.processingTimeout),
    ]
    let entry = AuditEntry(of: outcome, at: now, mode: mode)
    let (isRecorded, row) = try await writer.perform { [node] connection throws(StoreError) -> (Bool, SessionRow?) in
      let changed = try connection.rows(
        """
        UPDATE sessions SET status = ?, ended_at = ?, last_error = ?, result_expires_at = ?, waiting_result = ?,
          retained_result = ?, report_id = ?, report = ?, evidence = ?, evidence_bundle = ?, bytes = bytes + ?,
          next_erasure = ?
        WHERE id = ? AND relying_party = ? AND status = 'processing' AND attempt = ? AND consumed_at >= ?
        RETURNING seq
        """, values
      ) { $0.integer(0) }
      if let seq = changed.first {
        try connection.tell(
          seq, outcome.address, columns.type, code: columns.errorCode, result: outcome.result, at: now)
        try connection.write(entry, to: node)
        try connection.finish(completion)
        return (true, nil)
      }
      return (false, try connection.row(outcome.address))
    }
    return isRecorded ? .recorded : .superseded(try row?.record())
  }

  package func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await reader.perform { connection throws(StoreError) in try connection.row(address) }?.record()
  }

  package func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    try await reader.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT 1 FROM sessions WHERE id = ? AND relying_party = ?", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.integer(0) } != nil
    }
  }

  package func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await reader.perform { connection throws(StoreError) in
      guard let id else {
        return try SessionRow.first(connection, where: "client_secret_hash = ?", .blob(clientSecretHash))
      }
      return try SessionRow.first(
        connection, where: "sessions.id = ? AND secret_hash = ?", .text(id.text), .blob(clientSecretHash))
    }?.record()
  }

  /// One look-up by key for each: a single statement for all could be planned as a scan of every open session.
  package func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    try await reader.perform { connection throws(StoreError) in
      var found: Set<SessionID> = []
      for id in ids {
        let isFound = try connection.first(
          """
          SELECT 1 FROM sessions WHERE id = ? AND (status = 'requires_input' AND expires_at > ?
            OR status = 'processing' AND consumed_at >= ?)
          """, .text(id.text), .time(now), .time(now - Limits.processingTimeout)
        ) { _ in true }
        if isFound != nil { found.insert(id) }
      }
      return found
    }
  }

  package func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    let report = try await reader.perform { connection throws(StoreError) in
      // At most one of the two matches: a report that is found by its session has no `report_id`.
      try connection.first(
        """
        SELECT report FROM sessions WHERE id = ? AND relying_party = ? AND report_id IS NULL
        UNION ALL SELECT report FROM sessions WHERE report_id = ? AND relying_party = ?
        """, .optional(id.session?.text), .text(relyingParty), .text(id.text), .text(relyingParty)
      ) { $0.optionalBlob(0) }
    }
    guard let report = report ?? nil else { return nil }
    return try StoredForm.decode(ReportRecord.self, from: report)
  }

  package func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await reader.perform { connection throws(StoreError) in
      try connection.first(
        "SELECT evidence_bundle FROM sessions WHERE id = ? AND relying_party = ?", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.optionalBlob(0) } ?? nil
    }
  }

  package func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    let (row, isChanged) = try await writer.perform { connection throws(StoreError) -> (SessionRow?, Bool) in
      let seq = try connection.first(
        """
        UPDATE sessions SET status = 'canceled', ended_at = ?, client_secret_hash = NULL, secret_hash = NULL,
          materials = NULL
        WHERE id = ? AND relying_party = ? AND status = 'requires_input' AND expires_at > ? RETURNING seq
        """, .time(now), .text(address.id.text), .text(address.relyingParty), .time(now)
      ) { $0.integer(0) }
      if let seq {
        try connection.tell(seq, address, .canceled, at: now)
      }
      return (try connection.row(address), seq != nil)
    }
    guard let record = try row?.record() else { return .notFound }
    return isChanged ? .changed(record) : .refused(record)
  }

  package func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    let (row, isChanged) = try await writer.perform {
      [node, mode] connection throws(StoreError) -> (SessionRow?, Bool) in
      guard let before = try connection.row(address) else { return (nil, false) }
      let record = try before.record()
      if case .redacted = record.state { return (before, false) }
      // A failure that is only due to elapsed time is not yet written. It is kept here too, as its code.
      let error = record.state(at: now).lastError
      if case .processing(let attempt) = record.state {
        try connection.write(AuditEntry(unfinished: attempt, of: address, error, at: now, mode: mode), to: node)
      }
      let lastError = error.map { StoredForm.encode($0.redacted) }
      let report = record.report.map { StoredForm.encode($0.redacted()) }
      try connection.run(
        """
        UPDATE sessions SET status = 'redacted', ended_at = ?, client_secret_hash = NULL, secret_hash = NULL,
          content = NULL, protocols = NULL, requests = NULL, materials = NULL, last_error = ?, result_expires_at = NULL,
          waiting_result = NULL, retained_result = NULL, report = ?, evidence = NULL, evidence_bundle = NULL, bytes = ?,
          next_erasure = NULL
        WHERE seq = ?
        """, .time(now), .optional(lastError), .optional(report),
        .integer(Int64((lastError?.count ?? 0) + (report?.count ?? 0))), .integer(before.seq))
      try connection.run(
        "UPDATE idempotency SET body = NULL, result = NULL, result_expires_at = NULL, bytes = 0 WHERE session = ?",
        .text(address.id.text))
      try connection.tell(before.seq, address, .redacted, code: error?.code, at: now)
      connection.log.isDue = true
      return (try connection.row(address), true)
    }
    guard let record = try row?.record() else { return .notFound }
    return isChanged ? .changed(record) : .refused(record)
  }
}

extension SQLiteConnection {
  fileprivate func row(_ address: SessionAddress) throws(StoreError) -> SessionRow? {
    try SessionRow.first(
      self, where: "sessions.id = ? AND relying_party = ?", .text(address.id.text), .text(address.relyingParty))
  }
}

extension SQLiteValue {
  static func time(_ time: Timestamp) -> SQLiteValue { .integer(time.secondsSince1970) }
}

extension SQLiteStore {
  static let dialect = SessionListing.Dialect(
    mark: "?", key: "seq", processingIndex: "INDEXED BY sessions_processing",
    requestBytes: "length(requests)",
    // A list never shows the material.
    requestColumns: ["protocols", "requests", "NULL"])

  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let listing = SessionListing(query: query, dialect: Self.dialect)
    let found = try await lister.perform { connection throws(StoreError) -> [(row: SessionRow, found: Int)]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = ? AND relying_party = ?", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let time = listing.time(at: now).map { [SQLiteValue.time($0)] } ?? []
      return try connection.rows(
        listing.sql, [.text(relyingParty), .integer(before), .integer(listing.rows)] + time
      ) { (row: SessionRow($0), found: Int($0.integer(SessionRow.width + 3))) }
    }
    guard let found else { return nil }
    return try SessionPage(rows: found.map(\.row), found: found.first?.found ?? 0, limit: query.limit)
  }

  /// Counts from indexes alone, which hold all the columns that are needed; no row is read.
  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    try await lister.perform { connection throws(StoreError) in
      let counts = try connection.first(
        """
        SELECT
          (SELECT count(*) FROM sessions WHERE relying_party = ?1 AND status = 'requires_input' AND expires_at > ?2),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?3 FROM sessions
            WHERE relying_party = ?1 AND status = 'requires_input'),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?3 FROM sessions
            WHERE relying_party = ?1 AND ended_at IS NOT NULL),
          (SELECT coalesce(sum(bytes), 0) + count(*) * ?4 FROM idempotency WHERE relying_party = ?1 AND is_finished)
        """, .text(relyingParty), .time(now), .integer(StoreUsage.sessionOverhead), .integer(StoreUsage.replyOverhead)
      ) { row in
        StoreUsage(
          openSessions: row.integer(0), bytes: row.integer(1) + row.integer(2), idempotencyBytes: row.integer(3))
      }
      return counts ?? StoreUsage()
    }
  }
}

/// Reads sessions on a database thread.
extension SessionRow {
  static func first(
    _ connection: SQLiteConnection, where condition: String, _ values: SQLiteValue...
  ) throws(StoreError) -> SessionRow? {
    try connection.rows("SELECT \(columnsWithOffers) FROM sessions WHERE \(condition)", values, SessionRow.init).first
  }

  /// Reads a row that begins with `columnsWithOffers`. In a list, its last three columns may be NULL or have other
  /// names.
  init(_ row: SQLiteRow) {
    self.init(columnsOf: row)
    offers = Self.offers(
      OfferLines.protocols(row.optionalText(18)), OfferLines.requests(row.blob(19)),
      OfferLines.materials(row.optionalText(20)))
  }
}

/// A session's offers in three columns of text: each column has one line per offer, in the order of the offers.
enum OfferLines {
  private static let end = UInt8(ascii: "\n")

  static func protocols(_ offers: [ProtocolOffer]) -> String { offers.map(\.protocolName).joined(separator: "\n") }

  static func protocols(_ text: String?) -> [String] {
    (text ?? "").split(separator: "\n").map(String.init)
  }

  static func requests(_ offers: [ProtocolOffer]) -> [UInt8] {
    Array(offers.map(\.data.bytes).joined(separator: CollectionOfOne(end)))
  }

  static func requests(_ bytes: [UInt8]) -> [[UInt8]] { bytes.split(separator: end).map(Array.init) }

  /// Nil if no offer has material.
  static func materials(_ offers: [ProtocolOffer]) -> String? {
    guard offers.contains(where: { $0.sealedMaterial != nil }) else { return nil }
    return offers.map { Hex.encode($0.sealedMaterial ?? []) }.joined(separator: "\n")
  }

  static func materials(_ text: String?) -> [[UInt8]?] {
    (text ?? "").split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? nil : Hex.decode($0) }
  }
}
