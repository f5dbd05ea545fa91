import Base

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
