import Base

extension VerificationService {
  /// `GET /v1/verification_sessions/{id}`: the whole session for an API key, the part without personal data for a
  /// client secret.
  package func session(_ id: String, query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    let input = try ReadQuery.form.read(query)
    if input.expandsResult { try caller.require([.resultsRead]) }
    let record = try await record(at: try caller.address(of: id))
    guard case .apiKey = caller else { return Reply(json: rendering.clientView(record), session: record.address.id) }
    let result = input.expandsResult ? try storedResult(of: record, input.responseCode) : nil
    return Reply(json: rendering.json(record, result: result), session: record.address.id)
  }

  /// The waiting result until it expires, then the retained values, if any.
  private func storedResult(of record: SessionRecord, _ responseCode: String?) throws(ServiceError) -> JSON? {
    let now = clock()
    guard case .verified = record.state(at: now) else { return nil }
    func open(_ sealed: [UInt8], _ field: Sealer.Field) throws(ServiceError) -> JSON {
      try KeptResult.decode(openJSON(sealed, field), presenting: responseCode)
    }
    if let waiting = record.results.waiting, let end = record.results.expiresAt, now < end {
      return try open(waiting, .result(record.address.id))
    }
    var parts: [JSON] = []
    for part in record.results.seen(at: now).kept.parts {
      parts.append(try open(part.sealed, .retainedResult(record.address.id)))
    }
    return ResultRendering.merged(parts)
  }

  /// True if the relying party has the session. Callers need no credential.
  package func hasSession(_ id: String, of party: RelyingParty) async throws(ServiceError) -> Bool {
    guard let address = SessionID(id).map({ SessionAddress(relyingParty: party.id, id: $0) }) else { return false }
    return try await stored { store throws(StoreError) in try await store.exists(address) }
  }

  /// Returns the sessions that have not ended; nil if the store fails.
  package func unended(among ids: [SessionID]) async -> Set<SessionID>? {
    try? await store.unended(among: ids, at: clock())
  }

  /// `GET /v1/verification_sessions`: a relying party's sessions, newest first.
  package func sessions(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    let list = try await page(SessionQuery.form, query, of: caller) { party, query throws(StoreError) in
      try await store.sessions(of: party, query, at: clock()).map { page in rendering.list(page, with: query.parts) }
    }
    return Reply(json: list)
  }

  /// Reads a page of one of the caller's lists.
  func page<Form, Value: Sendable>(
    _ form: Query<Form>, _ items: [QueryItem], of caller: Caller,
    _ read: (String, Form) async throws(StoreError) -> Value?
  ) async throws(ServiceError) -> Value {
    let query = try form.read(items)
    let party = caller.relyingParty.id
    let page = try await lists.take(party) { () async throws(StoreError) in try await read(party, query) }
    guard let page else { throw form.refusal(of: "starting_after") }
    return page
  }

  /// `GET /v1/verification_reports/{id}`: the immutable report of one attempt.
  package func report(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    Reply(json: ReportRendering.written.write(try await reportRecord(id, as: caller)))
  }

  package func reportRecord(_ id: String, as caller: Caller) async throws(ServiceError) -> ReportRecord {
    let unknown = ServiceError(.apiNotFound, "No such report.")
    guard let id = ReportID(id) else { throw unknown }
    let report = try await stored { store throws(StoreError) in try await store.report(id, of: caller.relyingParty.id) }
    guard let report else { throw unknown }
    return report
  }

  /// `GET /v1/verification_sessions/{id}/evidence`: the sealed bundle, which `EvidenceBundle` opens.
  package func evidence(of id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    let record = try await record(at: try caller.address(of: id))
    let bundle = try await stored { store throws(StoreError) in try await store.evidence(record.address) }
    guard let bundle, record.results.seen(at: clock()).evidence == .kept else {
      throw ServiceError(.apiNotFound, "No evidence of this session is stored.")
    }
    return Reply(EvidenceBundle.mediaType, bundle, session: record.address.id)
  }
}

package struct ReadQuery: Sendable {
  var expandsResult = false
  /// The response code. It is required if the submitting browser or wallet received a code.
  var responseCode: String?

  /// A single session always includes its requests and report. Listing them in `expand[]` has no effect.
  private static let parts = ["result"] + SessionPart.allCases.map(\.rawValue)

  package static let form = Query(
    ReadQuery(),
    .list("expand[]", .oneOf("SessionExpansion", parts), of: parts, "Further members to include.") { query, part in
      if part == "result" { query.expandsResult = true }
      return true
    },
    .value(
      "response_code", .text,
      "The response code from the return URL. It is required for the result of a session that was opened by a link.",
      rule: "must be a string", { $0 }, { $0.responseCode = $1 }))
}

extension SessionQuery {
  package static let form = Query(
    SessionQuery(), .limit("sessions") { $0.limit = $1 },
    .after("sessions", like: SessionID.pattern, "The id of the last entry on the previous page.", { SessionID($0) }) {
      $0.startingAfter = $1
    },
    .choice(SessionStatus.self, "status", "SessionStatus", "Only sessions of this status.") { $0.status = $1 },
    text("client_reference_id", Limits.metadataValueCharacters, "Only sessions with this `client_reference_id`.") {
      $0.clientReferenceID = $1
    },
    .whole(
      "created[gte]", seconds,
      "Only sessions created at or after this time, in Unix seconds."
    ) { $0.createdFrom = $1 },
    .whole(
      "created[lt]", seconds,
      "Only sessions created before this time, in Unix seconds."
    ) { $0.createdBefore = $1 },
    text("doc_type", 255, "Only sessions that request this document type.") { $0.docType = $1 },
    .list(
      "expand[]", parts, of: SessionPart.allCases.map(\.rawValue), isSet: true,
      "Further members to include, each once."
    ) { query, part in
      SessionPart(rawValue: part).map { query.parts.insert($0).inserted } ?? false
    })

  private static let seconds: ClosedRange<Int64> = 0...253_402_300_799

  private static func text(
    _ name: String, _ most: Int, _ summary: String, _ set: @escaping Query<SessionQuery>.Member.Setter<String>
  ) -> Query<SessionQuery>.Member {
    .value(
      name, Schema.text(1...most).with("pattern", "^[^\\x00]*$"), summary,
      rule: "must have 1 to \(most) characters other than NUL",
      { (1...most).contains($0.unicodeScalars.count) && !$0.contains("\0") ? $0 : nil }, set)
  }

  private static let parts: Schema = [
    "type": "array", "uniqueItems": true,
    "items": Schema.oneOf("SessionPart", SessionPart.allCases.map(\.rawValue)).described("A part of each session.")
      .json,
  ]
}
