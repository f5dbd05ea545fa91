import Primitives

/// Lists what happened to a relying party's sessions, newest first.
struct ListEvents {
  let context: ServiceContext

  func run(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let input = try ListEventsInput(parsing: query)
    let page: EventPage?
    do {
      page = try await context.store.events(of: caller.relyingParty.id, input.query)
    } catch {
      throw ServiceError(error)
    }
    guard let page else { throw ListEventsInput.unknownCursor }
    return Reply(200, EventRendering(isLive: context.isLive).list(page))
  }
}

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
