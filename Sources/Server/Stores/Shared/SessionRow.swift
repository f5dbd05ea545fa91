import Base
import Sessions

/// A session's columns as they were read. The database's threads only copy bytes; the caller's task decodes them.
struct SessionRow: Sendable {
  struct Offer: Sendable {
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

  /// The columns in the same places, with NULL for each that a list does not show.
  static func columns(listing parts: Set<SessionPart>) -> [String] {
    let left: Set = [secretHash, "waiting_result", "retained_result"]
    return names.map { left.contains($0) || ($0 == "report" && !parts.contains(.report)) ? "NULL" : $0 }
  }

  /// The columns, followed by the three columns of the offers, which have another form in each database.
  static let columnsWithOffers = columns + ", protocols, requests, materials"

  /// The index of the first column after `columns`.
  static var width: Int32 { Int32(names.count) }

  let seq: Int64
  var offers: [Offer] = []
  private let id: String
  private let relyingParty: String
  private let created: Int64
  private let expiresAt: Int64
  private let status: String
  private let attempt: String?
  private let consumedAt: Int64?
  private let endedAt: Int64?
  private let clientSecretHash: [UInt8]?
  private let content: [UInt8]?
  private let lastError: [UInt8]?
  private let results: SealedResults
  private let kept: [UInt8]?
  private let report: [UInt8]?
  private let attemptProtocol: String?

  /// Reads a row that begins with `columns`.
  init(columnsOf row: some StoredRow) {
    seq = row.integer(0)
    id = row.text(1)
    relyingParty = row.text(2)
    created = row.integer(3)
    expiresAt = row.integer(4)
    status = row.text(5)
    attempt = row.optionalText(6)
    consumedAt = row.optionalInteger(7)
    endedAt = row.optionalInteger(8)
    clientSecretHash = row.optionalBlob(9)
    content = row.optionalBlob(10)
    lastError = row.optionalBlob(11)
    results = SealedResults(
      expiresAt: row.optionalInteger(12).map { Timestamp(secondsSince1970: $0) }, waiting: row.optionalBlob(13),
      evidence: row.optionalText(17).flatMap(EvidenceStatus.init))
    kept = row.optionalBlob(14)
    report = row.optionalBlob(15)
    attemptProtocol = row.optionalText(16)
  }

  /// Makes the offers from their three columns, each of which has its parts in the order of the offers.
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
    var offers: [ProtocolOffer] = []
    for offer in self.offers {
      offers.append(
        ProtocolOffer(
          protocolName: offer.protocolName, data: try StoredForm.text(offer.data),
          sealedMaterial: offer.material))
    }
    var results = results
    results.kept = try KeptValues(stored: kept, end: time(endedAt ?? expiresAt) + Limits.sessionRetention)
    return SessionRecord(
      address: SessionAddress(relyingParty: relyingParty, id: id), created: time(created),
      expiresAt: time(expiresAt), clientSecretHash: clientSecretHash,
      content: try decoded(SessionContent.self, content), offers: offers, state: try state(), results: results,
      report: try decoded(ReportRecord.self, report))
  }

  private func state() throws(StoreError) -> SessionState {
    let ended = time(endedAt ?? expiresAt)
    switch SessionStatus(rawValue: status) {
    case .requiresInput: return .requiresInput
    case .processing:
      guard let attempt = attempt.flatMap(AttemptID.init), let consumedAt else { throw .corrupt("an attempt") }
      return .processing(.init(id: attempt, protocolName: attemptProtocol, startedAt: time(consumedAt)))
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

  private func time(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: seconds) }
}

/// The current row of a query, in either database. Columns are numbered from 0 and copied out.
protocol StoredRow {
  func integer(_ column: Int32) -> Int64
  func optionalInteger(_ column: Int32) -> Int64?
  func text(_ column: Int32) -> String
  func optionalText(_ column: Int32) -> String?
  func blob(_ column: Int32) -> [UInt8]
  func optionalBlob(_ column: Int32) -> [UInt8]?
}

/// A session with an attempt that was interrupted, as the sweep found.
struct InterruptedRow {
  static let columns = "id, relying_party, attempt, attempt_protocol, consumed_at"

  let id: String
  let relyingParty: String
  private let attempt: String
  private let protocolName: String?
  private let consumedAt: Int64

  init(_ row: some StoredRow) {
    id = row.text(0)
    relyingParty = row.text(1)
    attempt = row.text(2)
    protocolName = row.optionalText(3)
    consumedAt = row.integer(4)
  }

  /// The audit entry of the interrupted attempt.
  func entry(at now: Timestamp, mode: ServerMode) throws(StoreError) -> AuditEntry {
    guard let session = SessionID(id), let attempt = AttemptID(attempt) else { throw .corrupt("an attempt") }
    return AuditEntry(
      unfinished: SessionState.Attempt(
        id: attempt, protocolName: protocolName, startedAt: Timestamp(secondsSince1970: consumedAt)),
      of: SessionAddress(relyingParty: relyingParty, id: session), .interrupted, at: now, mode: mode)
  }
}

/// The columns that record an attempt's outcome. The caller's task makes them, not the database's thread.
struct OutcomeColumns: Sendable {
  /// The session's new status, which is also the type of its event.
  let type: EventType
  let lastError: [UInt8]?
  let errorCode: String?
  let results: SealedResults
  /// The report's id; nil if it follows from the session's id, by which the report is then found.
  let reportID: String?
  let report: [UInt8]?

  /// The number of bytes that are kept as long as the session.
  var bytes: Int { [lastError, report, results.kept.stored].reduce(0) { $0 + ($1?.count ?? 0) } }

  init(_ outcome: AttemptOutcome) {
    let error: LastError?
    (type, results, error) =
      switch outcome.conclusion {
      case .verified(let sealed): (.verified, sealed, nil)
      case .failed(let error): (.failed, .none, error)
      case .canceled(let error): (.canceled, .none, error)
      }
    lastError = error.map { StoredForm.encode($0) }
    errorCode = error?.code
    reportID = outcome.report?.id.flatMap { $0 == ReportID(of: outcome.address.id).text ? nil : $0 }
    report = outcome.report.map { StoredForm.encode($0) }
  }
}
