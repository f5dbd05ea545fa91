import Base
import Sessions

extension DatabaseStore {
  package func create(
    _ session: SessionRecord, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) {
    let content = session.content.map { StoredForm.encode($0) }
    let bytes = session.offers.reduce(content?.count ?? 0) { $0 + $1.data.bytes.count }
    let values: [SQLValue] =
      [
        .text(session.address.id.text), .text(session.address.relyingParty), .time(session.created),
        .time(session.expiresAt), .blob(session.clientSecretHash), .blob(content), .integer(bytes),
        .searchable(session.content?.clientReferenceID), .searchable(session.content.map(\.docTypeLines)),
      ] + Connection.Row.values(of: session.offers)
    try await perform("create", .write) { connection throws(StoreError) in
      try connection.run(
        """
        INSERT INTO sessions (id, relying_party, created, expires_at, status, secret_hash, content, bytes,
          client_reference_id, doc_types, protocols, requests, materials)
        VALUES ($1, $2, $3, $4, 'requires_input', $5, $6, $7, $8, $9, $10, $11, $12)
        """, values, finishing: completion)
    }
  }

  package func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    defer { observer?.ended(outcome.address.id) }
    let change = OutcomeChange(outcome, at: now, mode: mode)
    return try await measured("record_outcome") { () async throws(StoreError) -> OutcomeRecording in
      if try await record(change, finishing: completion) { return .recorded }
      let row = try await perform(.read) { connection throws(StoreError) in try connection.row(outcome.address) }
      return .superseded(try row?.record())
    }
  }

  package func recordVerification(_ outcome: AttemptOutcome, at now: Timestamp) async throws(StoreError) {
    guard let report = outcome.report.map({ StoredForm.encode($0) }) else { return }
    let entry = AuditEntry(of: outcome, at: now, mode: mode)
    try await perform("record_verification", .write) { [node] connection throws(StoreError) in
      try connection.atomically { () throws(StoreError) in
        try connection.run(
          "INSERT INTO verifications (id, relying_party, ended_at, report, bytes) VALUES ($1, $2, $3, $4, $5)",
          .text(outcome.address.id.text), .text(outcome.address.relyingParty), .time(now), .blob(report),
          .integer(report.count))
        try connection.append(entry, to: node)
      }
    }
  }

  package func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try await change(address, "cancel") { connection throws(StoreError) in
      let changed = try connection.run(
        """
        UPDATE sessions SET status = 'canceled', ended_at = $3, client_secret_hash = NULL, secret_hash = NULL,
          materials = NULL
        WHERE id = $1 AND relying_party = $2 AND status = 'requires_input' AND expires_at > $3
        """, .text(address.id.text), .text(address.relyingParty), .time(now))
      if changed > 0 { try connection.tell(address.id, at: now) }
      return changed > 0
    }
  }

  package func expire(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Bool {
    defer { observer?.ended(address.id) }
    return try await perform("expire", .write) { connection throws(StoreError) in
      try connection.run(
        """
        UPDATE sessions SET expires_at = $3
        WHERE id = $1 AND relying_party = $2 AND status = 'requires_input' AND expires_at > $3
        """, .text(address.id.text), .text(address.relyingParty), .time(now)) > 0
    }
  }

  package func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try await change(address, "redact") { [node, mode] connection throws(StoreError) in
      // The row is locked from here on. A concurrent request to store a reply waits, and then sees the redaction.
      guard let record = try connection.row(address, Connection.dialect.forUpdate)?.record() else { return false }
      if case .redacted = record.state { return false }
      // If the session has failed by timeout, the row does not yet contain this failure.
      let error = record.state(at: now).lastError
      let lastError = error.map { StoredForm.encode($0.redacted) }
      let report = record.report.map { StoredForm.encode($0.redacted()) }
      try connection.run(
        """
        UPDATE sessions SET status = 'redacted', ended_at = $2, client_secret_hash = NULL, secret_hash = NULL,
          content = NULL, client_reference_id = NULL, doc_types = NULL, protocols = NULL, requests = NULL,
          materials = NULL, last_error = $3, result_expires_at = NULL, waiting_result = NULL, retained_result = NULL, report = $4, evidence = NULL, evidence_bundle = NULL,
          bytes = $5, next_erasure = NULL
        WHERE id = $1
        """, .text(address.id.text), .time(now), .blob(lastError), .blob(report),
        .integer((lastError?.count ?? 0) + (report?.count ?? 0)))
      // A separate statement also sees replies that were stored before the session was locked.
      try connection.run(
        "UPDATE idempotency SET body = NULL, result = NULL, result_expires_at = NULL, bytes = 0 WHERE session = $1",
        .text(address.id.text))
      try connection.tell(address.id, code: error?.code, at: now)
      if case .processing(let attempt) = record.state {
        try connection.append(AuditEntry(unfinished: attempt, of: address, error, at: now, mode: mode), to: node)
      }
      connection.noteErasure()
      return true
    }
  }

  /// Changes a session in one transaction, and then reads it. `body` returns true if it changed the session.
  private func change(
    _ address: SessionAddress, _ operation: StaticString,
    _ body: @escaping @Sendable (Connection) throws(StoreError) -> Bool
  ) async throws(StoreError) -> Transition {
    defer { observer?.ended(address.id) }
    let (row, isChanged) = try await perform(operation, .write) {
      connection throws(StoreError) -> (SessionRow?, Bool) in
      try connection.atomically { () throws(StoreError) in
        let isChanged = try body(connection)
        return (try connection.row(address), isChanged)
      }
    }
    guard let record = try row?.record() else { return .notFound }
    return isChanged ? .changed(record) : .refused(record)
  }

  // MARK: Reading

  package func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await perform("session", .read) { connection throws(StoreError) in try connection.row(address) }?.record()
  }

  package func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    try await perform("session_exists", .read) { connection throws(StoreError) in
      try connection.first(
        "SELECT 1 FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { _ in true } ?? false
    }
  }

  package func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await perform("session_by_secret", .read) { connection throws(StoreError) in
      guard let id else { return try connection.session(where: "client_secret_hash = $1", .blob(clientSecretHash)) }
      return try connection.session(
        where: "sessions.id = $1 AND secret_hash = $2", .text(id.text), .blob(clientSecretHash))
    }?.record()
  }

  /// The CASE makes the database look up each id instead of scanning the index of all open sessions.
  package func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    let found = try await perform("unended", .read) { connection throws(StoreError) in
      try connection.rows(
        """
        SELECT id FROM sessions WHERE \(Connection.dialect.isListed) AND CASE status
          WHEN 'requires_input' THEN expires_at > $2 WHEN 'processing' THEN consumed_at >= $3 ELSE false END
        """, [.texts(ids.map(\.text)), .time(now), .time(now - Limits.processingTimeout)]
      ) { $0.text(0) }
    }
    return Set(found.compactMap(SessionID.init))
  }

  package func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    let report = try await perform("report", .read) { connection throws(StoreError) in
      // At most one condition matches. A report that is found by its session has no `report_id`. A verification's id is
      // never a session's id.
      try connection.first(
        """
        SELECT report FROM sessions WHERE id = $1 AND relying_party = $3 AND report_id IS NULL
        UNION ALL SELECT report FROM sessions WHERE report_id = $2 AND relying_party = $3
        UNION ALL SELECT report FROM verifications WHERE id = $1 AND relying_party = $3
        """, .text(id.session.text), .text(id.text), .text(relyingParty)
      ) { $0.optionalBlob(0) }
    }
    guard let report = report ?? nil else { return nil }
    return try StoredForm.decode(ReportRecord.self, from: report)
  }

  package func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await perform("evidence", .read) { connection throws(StoreError) in
      try connection.first(
        "SELECT evidence_bundle FROM sessions WHERE id = $1 AND relying_party = $2", .text(address.id.text),
        .text(address.relyingParty)
      ) { $0.optionalBlob(0) } ?? nil
    }
  }

  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    @Sendable func bytes(_ overhead: String) -> String {
      "CAST(coalesce(sum(bytes), 0) + count(*) * \(overhead) AS bigint) AS bytes"
    }
    let usage = try await perform("usage", .list) { connection throws(StoreError) in
      try connection.first(
        """
        SELECT waiting.alive, waiting.bytes + ended.bytes + verified.bytes, replies.bytes FROM
          (SELECT count(*) FILTER (WHERE expires_at > $2) AS alive, \(bytes("$3")) FROM sessions
            WHERE relying_party = $1 AND status = 'requires_input') AS waiting,
          (SELECT \(bytes("$3")) FROM sessions WHERE relying_party = $1 AND ended_at IS NOT NULL) AS ended,
          (SELECT \(bytes("$3")) FROM verifications WHERE relying_party = $1) AS verified,
          (SELECT \(bytes("$4")) FROM idempotency WHERE relying_party = $1 AND is_finished) AS replies
        """, .text(relyingParty), .time(now), .integer(StoreUsage.sessionOverhead),
        .integer(StoreUsage.replyOverhead)
      ) { StoreUsage(openSessions: $0.integer(0), bytes: $0.integer(1), idempotencyBytes: $0.integer(2)) }
    }
    return usage ?? StoreUsage()
  }
}

extension DatabaseConnection {
  /// Writes the event for a session's new status, in the same transaction as the change.
  func tell(
    _ session: SessionID, code: String? = nil, result: ResultPlace? = nil, at now: Timestamp
  ) throws(StoreError) {
    try run(
      Self.tell("id = $1"), .text(session.text), .time(now), .text(code), .text(result?.rawValue))
  }

  func tell(all sessions: [String], code: String? = nil, at now: Timestamp) throws(StoreError) {
    try run(Self.tell(Self.dialect.isListed), .texts(sessions), .time(now), .text(code), .text(nil))
  }

  private static func tell(_ sessions: String) -> String {
    """
    INSERT INTO events (\(dialect.eventKey.column)session_id, type, relying_party, created, error_code, result)
    SELECT \(dialect.eventKey.of)id, status, relying_party, $2, $3, $4 FROM sessions WHERE \(sessions) ORDER BY seq
    """
  }

  func session(where condition: String, _ values: SQLValue...) throws(StoreError) -> SessionRow? {
    try rows("SELECT \(SessionRow.columnsWithOffers) FROM sessions WHERE \(condition)", values, SessionRow.init).first
  }

  func row(_ address: SessionAddress, _ lock: String = "") throws(StoreError) -> SessionRow? {
    try session(
      where: "sessions.id = $1 AND relying_party = $2 \(lock)", .text(address.id.text), .text(address.relyingParty))
  }
}

/// The change that records an attempt's outcome. The caller's task creates it, not the database's thread.
package struct OutcomeChange: Sendable {
  static let update = """
    UPDATE sessions SET status = $5, ended_at = $6, last_error = $7, result_expires_at = $8, waiting_result = $9,
      retained_result = $10, report_id = $11, report = $12, evidence = $13, evidence_bundle = $14, bytes = bytes + $15,
      next_erasure = $16
    WHERE id = $1 AND relying_party = $2 AND status = 'processing' AND attempt = $3 AND consumed_at >= $4
    """

  let session: SessionID
  let now: Timestamp
  let values: [SQLValue]
  let errorCode: String?
  let result: ResultPlace?
  let entry: AuditEntry

  init(_ outcome: AttemptOutcome, at now: Timestamp, mode: ServerMode) {
    let (type, results, error): (EventType, SealedResults, LastError?) =
      switch outcome.conclusion {
      case .verified(let sealed): (.verified, sealed, nil)
      case .failed(let error): (.failed, .none, error)
      case .canceled(let error): (.canceled, .none, error)
      }
    session = outcome.address.id
    self.now = now
    errorCode = error?.code
    result = outcome.result
    entry = AuditEntry(of: outcome, at: now, mode: mode)
    let lastError = error.map { StoredForm.encode($0) }
    let report = outcome.report.map { StoredForm.encode($0) }
    let kept = results.kept.stored
    // If a report's id is derived from its session's id, the report is found by the session.
    let reportID = outcome.report?.id.flatMap { $0 == ReportID(of: outcome.address.id).text ? nil : $0 }
    // The size of the data that is stored as long as the session.
    let bytes = [lastError, report, kept, outcome.evidence].reduce(0) { $0 + ($1?.count ?? 0) }
    values = [
      .text(session.text), .text(outcome.address.relyingParty), .text(outcome.attempt.text),
      .time(now - Limits.processingTimeout), .type(type), .time(now), .blob(lastError), .time(results.expiresAt),
      .blob(results.waiting), .blob(kept), .text(reportID), .blob(report), .text(results.evidence?.rawValue),
      .blob(outcome.evidence), .integer(bytes), .time(results.kept.nextErasure),
    ]
  }
}

/// A session's columns as they were read. The database's threads only copy bytes. The caller's task decodes them.
package struct SessionRow: Sendable {
  package struct Offer: Sendable {
    let protocolName: String
    let data: [UInt8]
    let material: [UInt8]?
  }

  private static let names = [
    "sessions.seq", "sessions.id", "relying_party", "created", "expires_at", "status", "attempt", "consumed_at",
    "ended_at", secretHash, "content", "last_error", "result_expires_at", "waiting_result", "retained_result", "report",
    "attempt_protocol", "evidence",
  ]
  private static let secretHash = "coalesce(secret_hash, client_secret_hash)"
  static let columns = names.joined(separator: ", ")

  /// The columns in the same order, with NULL for columns that a list does not show.
  static func columns(listing parts: Set<SessionPart>) -> [String] {
    let left: Set = [secretHash, "waiting_result", "retained_result"]
    return names.map { left.contains($0) || ($0 == "report" && !parts.contains(.report)) ? "NULL" : $0 }
  }

  /// The columns, then the offers' columns. The form of the offers' columns depends on the database.
  static let columnsWithOffers = columns + ", protocols, requests, materials"

  static var width: Int32 { Int32(names.count) }

  let seq: Int64
  private let offers: [Offer]
  private let id: String
  private let relyingParty: String
  private let created: Timestamp
  private let expiresAt: Timestamp
  private let status: String
  private let attempt: String?
  private let consumedAt: Timestamp?
  private let endedAt: Timestamp?
  private let clientSecretHash: [UInt8]?
  private let content: [UInt8]?
  private let lastError: [UInt8]?
  private let results: SealedResults
  private let kept: [UInt8]?
  private let report: [UInt8]?
  private let attemptProtocol: String?

  /// Reads a row that begins with `columnsWithOffers`. In a list, the last three columns may be NULL or have other
  /// names.
  init(_ row: some StoredRow) {
    seq = row.integer(0)
    id = row.text(1)
    relyingParty = row.text(2)
    created = row.time(3)
    expiresAt = row.time(4)
    status = row.text(5)
    attempt = row.optionalText(6)
    consumedAt = row.optionalTime(7)
    endedAt = row.optionalTime(8)
    clientSecretHash = row.optionalBlob(9)
    content = row.optionalBlob(10)
    lastError = row.optionalBlob(11)
    results = SealedResults(
      expiresAt: row.optionalTime(12), waiting: row.optionalBlob(13),
      evidence: row.optionalText(17).flatMap(EvidenceStatus.init))
    kept = row.optionalBlob(14)
    report = row.optionalBlob(15)
    attemptProtocol = row.optionalText(16)
    offers = row.offers(Self.width)
  }

  /// Makes the offers from their three columns, each in the order of the offers.
  static func offers(_ protocols: [String], _ requests: [[UInt8]?], _ materials: [[UInt8]?]) -> [Offer] {
    protocols.enumerated().map { index, name in
      Offer(
        protocolName: name, data: requests.indices.contains(index) ? requests[index] ?? [] : [],
        material: materials.indices.contains(index) ? materials[index] : nil)
    }
  }

  // MARK: Decoding, on any thread

  func record() throws(StoreError) -> SessionRecord {
    guard let id = SessionID(id) else { throw .corrupt("a session id") }
    let offers = try offers.map { offer throws(StoreError) in
      ProtocolOffer(
        protocolName: offer.protocolName, data: try StoredForm.text(offer.data), sealedMaterial: offer.material)
    }
    var results = results
    results.kept = try KeptValues(stored: kept, end: (endedAt ?? expiresAt) + Limits.sessionRetention)
    return SessionRecord(
      address: SessionAddress(relyingParty: relyingParty, id: id), created: created,
      expiresAt: expiresAt, clientSecretHash: clientSecretHash,
      content: try decoded(SessionContent.self, content), offers: offers, state: try state(), results: results,
      report: try decoded(ReportRecord.self, report))
  }

  private func state() throws(StoreError) -> SessionState {
    let ended = endedAt ?? expiresAt
    switch SessionStatus(rawValue: status) {
    case .requiresInput: return .requiresInput
    case .processing:
      guard let attempt = attempt.flatMap(AttemptID.init), let consumedAt else { throw .corrupt("an attempt") }
      return .processing(.init(id: attempt, protocolName: attemptProtocol, startedAt: consumedAt))
    case .verified: return .verified(at: ended)
    case .failed:
      guard let error = try decoded(LastError.self, lastError) else { throw .corrupt("a failure") }
      return .failed(error, at: ended)
    case .canceled: return .canceled(at: ended, lastError: try decoded(LastError.self, lastError))
    case .expired: return .expired
    case .redacted: return .redacted(at: ended, lastError: try decoded(LastError.self, lastError))
    case nil: throw .corrupt("a status")
    }
  }

  private func decoded<Value: StoredValue>(_ type: Value.Type, _ bytes: [UInt8]?) throws(StoreError) -> Value? {
    guard let bytes else { return nil }
    return try StoredForm.decode(type, from: bytes)
  }
}

extension AuditEntry {
  static let interruptedColumns = "id, relying_party, attempt, attempt_protocol, consumed_at"

  /// The audit entry for an interrupted attempt, from a row of `interruptedColumns`; nil if the row is corrupt.
  init?(interrupted row: some StoredRow, at now: Timestamp, mode: ServerMode) {
    guard let session = SessionID(row.text(0)), let attempt = AttemptID(row.text(2)) else { return nil }
    self.init(
      unfinished: SessionState.Attempt(id: attempt, protocolName: row.optionalText(3), startedAt: row.time(4)),
      of: SessionAddress(relyingParty: row.text(1), id: session), .interrupted, at: now, mode: mode)
  }
}
