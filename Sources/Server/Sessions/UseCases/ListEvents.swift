import Base

/// Lists what happened to a relying party's sessions, newest first.
struct ListEvents {
  let context: ServiceContext

  func run(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let input = try ListEventsInput(parsing: query)
    let party = caller.relyingParty.id
    let page = try await context.lists.take(party) { () async throws(StoreError) in
      try await context.store.events(of: party, input.query)
    }
    guard let page else { throw ListEventsInput.unknownCursor }
    return Reply(200, EventRendering(isLive: context.isLive).list(page))
  }
}
