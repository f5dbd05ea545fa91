import Base

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
    return Reply(200, ReportRendering.written(report))
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
