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
  /// The session, or `session.not_found` alike for an unknown id and another's: in time too, but for one row that is
  /// read and not taken, since both are the same query of the same index. And to measure even that, one would need an id
  /// of another's, which is 131 random bits.
  func record(at address: SessionAddress) async throws(ServiceError) -> SessionRecord {
    let record: SessionRecord?
    do { record = try await store.session(address) } catch { throw ServiceError(error) }
    guard let record else { throw .sessionNotFound }
    return record
  }
}
