import Base

/// Reads one session: with an API key all of it, with a client secret what a page may see.
struct GetSession {
  let context: ServiceContext

  func run(_ id: String, query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    let input = try GetSessionInput(parsing: query)
    if case .apiKey = caller { try caller.require(.sessionsWrite, .resultsRead) }
    if input.expandsResult { try caller.require(.resultsRead) }
    let record = try await context.record(at: try caller.address(of: id))
    let now = context.clock()
    let rendering = SessionRendering(isLive: context.isLive, now: now)
    guard case .apiKey = caller else { return Reply(200, rendering.clientView(record), session: record.address.id) }
    let result = input.expandsResult ? try storedResult(of: record, input.responseCode, at: now) : nil
    return Reply(200, rendering.json(record, result: result), session: record.address.id)
  }

  /// The waiting result until it expires, then what is still retained, if anything.
  private func storedResult(
    of record: SessionRecord, _ responseCode: String?, at now: Timestamp
  ) throws(ServiceError) -> JSON? {
    guard case .verified = record.state(at: now) else { return nil }
    if let waiting = record.results.waiting, let end = record.results.expiresAt, now < end {
      return try KeptResult.decode(
        context.openJSON(waiting, .result(record.address.id)), presenting: responseCode)
    }
    var parts: [JSON] = []
    for part in record.results.seen(at: now).kept.parts {
      parts.append(
        try KeptResult.decode(
          context.openJSON(part.sealed, .retainedResult(record.address.id)), presenting: responseCode))
    }
    return ResultRendering.merged(parts)
  }
}

extension ServiceContext {
  /// The session.
  ///
  /// An unknown id and one of another relying party look alike, in time too: both are the same query of the same index.
  /// They differ by one row, which is read and not taken. To measure even that, one would need an id of another relying
  /// party, which is 131 random bits.
  ///
  /// - Throws: `session.not_found` in both cases.
  func record(at address: SessionAddress) async throws(ServiceError) -> SessionRecord {
    let record: SessionRecord?
    do { record = try await store.session(address) } catch { throw ServiceError(error) }
    guard let record else { throw .sessionNotFound }
    return record
  }
}

/// Lists a relying party's sessions, newest first: without their requests and reports unless these are asked for, and
/// never with results.
struct ListSessions {
  let context: ServiceContext

  func run(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let input = try ListSessionsInput(parsing: query)
    let now = context.clock()
    let party = caller.relyingParty.id
    let list = try await context.lists.take(party) { () async throws(StoreError) in
      try await context.store.sessions(of: party, input.query, at: now).map { page in
        SessionRendering(isLive: context.isLive, now: now).list(page, with: input.query.parts)
      }
    }
    guard let list else {
      throw ServiceError(.apiInvalidRequest, "`starting_after` names no session of this relying party.")
    }
    return Reply(200, list)
  }
}

/// The query of `GET …/{id}`: `expand[]`, with the response code where the wallet was given one, or nothing.
package struct GetSessionInput {
  /// One session's requests and report are always there: naming them, as for a list, changes nothing.
  package static let parts = ["result"] + SessionPart.allCases.map(\.rawValue)

  let expandsResult: Bool
  let responseCode: String?

  init(parsing query: [QueryItem]) throws(ServiceError) {
    let codes = query.filter { $0.name == "response_code" }
    guard codes.count <= 1 else { throw ServiceError(.apiInvalidRequest, "A query parameter is there twice.") }
    responseCode = codes.first?.value
    var expandsResult = false
    for item in query where item.name != "response_code" {
      guard item.name == "expand[]" || item.name == "expand" else { throw .unknownParameter(item.name) }
      guard Self.parts.contains(item.value) else { throw PageInput.noneOf(Self.parts, "expand[]") }
      expandsResult = expandsResult || item.value == "result"
    }
    self.expandsResult = expandsResult
  }
}

/// The query of the list: `limit`, `starting_after`, `status`, and `expand[]`, which may be there for each part.
struct ListSessionsInput {
  private(set) var query = SessionQuery()

  init(parsing items: [QueryItem]) throws(ServiceError) {
    try PageInput.refuseRepetition(items.filter { !Self.expand.contains($0.name) })
    for item in items {
      switch item.name {
      case let name where Self.expand.contains(name):
        guard let part = SessionPart(rawValue: item.value) else {
          throw PageInput.noneOf(SessionPart.allCases.map(\.rawValue), "expand[]")
        }
        guard query.parts.insert(part).inserted else { throw PageInput.repetition }
      case "limit": query.limit = try PageInput.limit(item.value)
      case "starting_after":
        guard let id = SessionID(item.value) else {
          throw ServiceError(.apiInvalidRequest, "`starting_after` names no session of this relying party.")
        }
        query.startingAfter = id
      case "status":
        guard let status = SessionStatus(rawValue: item.value) else {
          throw PageInput.noneOf(SessionStatus.allCases.map(\.rawValue), "status")
        }
        query.status = status
      default: throw .unknownParameter(item.name)
      }
    }
  }
}

extension ListSessionsInput {
  private static let expand: Set = ["expand[]", "expand"]
}

extension ServiceError {
  static func unknownParameter(_ name: String) -> ServiceError {
    ServiceError(.apiUnknownMember, "The query parameter `\(name)` is not known here.")
  }
}

/// One decoded name and value of a URL's query.
package struct QueryItem: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The immutable report of one attempt.
struct GetReport {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let unknown = ServiceError(.apiNotFound, "No such report.")
    guard let id = ReportID(id) else { throw unknown }
    let report: ReportRecord?
    do {
      report = try await context.store.report(id, of: caller.relyingParty.id)
    } catch {
      throw ServiceError(error)
    }
    guard let report else { throw unknown }
    return Reply(200, ReportRendering.written.write(report))
  }
}

/// The sealed evidence of one session, as the store has it.
struct GetEvidence {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try caller.require(.resultsRead)
    let record = try await context.record(at: try caller.address(of: id))
    let bundle: [UInt8]?
    do { bundle = try await context.store.evidence(record.address) } catch { throw ServiceError(error) }
    guard let bundle, record.results.seen(at: context.clock()).evidence == .kept else {
      throw ServiceError(.apiNotFound, "No evidence of this session is kept.")
    }
    return bundle
  }
}
