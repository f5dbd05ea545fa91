import Base

/// Lists deliveries of one status; by default the dead letters.
struct ListDeliveries {
  let context: ServiceContext

  func run(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    let input = try ListDeliveriesInput(parsing: query)
    let party = caller.relyingParty.id
    let page = try await context.lists.take(party) { () async throws(StoreError) in
      try await context.store.deliveries(of: party, input.query)
    }
    guard let page else { throw ListDeliveriesInput.unknownCursor }
    return Reply(200, EventRendering(isLive: context.isLive).list(page))
  }
}
