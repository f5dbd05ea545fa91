import Primitives

/// Lists a relying party's sessions, newest first. Results are not expanded in a list.
struct ListSessions {
  let context: ServiceContext

  func run(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let input = try ListSessionsInput(parsing: query)
    let now = context.clock()
    let page: SessionPage?
    do {
      page = try await context.store.sessions(of: caller.relyingParty.id, input.query, at: now)
    } catch {
      throw ServiceError(error)
    }
    guard let page else {
      throw ServiceError(.apiInvalidRequest, "`starting_after` names no session of this relying party.")
    }
    return Reply(200, SessionRendering(isLive: context.isLive, now: now).list(page))
  }
}
