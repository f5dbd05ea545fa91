import Base

/// Reads one event.
struct GetEvent {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let unknown = ServiceError(.apiNotFound, "No such event.")
    guard let id = EventID(id) else { throw unknown }
    let event: EventRecord?
    do {
      event = try await context.store.event(id, of: caller.relyingParty.id)
    } catch {
      throw ServiceError(error)
    }
    guard let event else { throw unknown }
    return Reply(200, EventRendering(isLive: context.isLive).json(event))
  }
}
