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
