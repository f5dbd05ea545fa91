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

/// Begins a dead letter anew. One that is not dead stays as it is: doing it twice is no error.
struct RetryDelivery {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> OperationReply {
    let unknown = ServiceError(.apiNotFound, "No such delivery.")
    guard let id = DeliveryID(id) else { throw unknown }
    let retry: DeliveryRetry
    do {
      retry = try await context.store.retryDelivery(id, of: caller.relyingParty.id, at: context.clock())
    } catch {
      throw ServiceError(error)
    }
    switch retry {
    case .begun(let delivery), .refused(let delivery):
      return OperationReply(status: 200, body: EventRendering(isLive: context.isLive).json(delivery))
    case .notFound: throw unknown
    }
  }
}

/// The query of the list of events: `limit`, `starting_after`, `type`.
struct ListEventsInput {
  private(set) var query = EventQuery()

  static let unknownCursor = ServiceError(
    .apiInvalidRequest, "`starting_after` names no event of this relying party.")

  init(parsing items: [QueryItem]) throws(ServiceError) {
    try PageInput.refuseRepetition(items)
    for item in items {
      switch item.name {
      case "limit": query.limit = try PageInput.limit(item.value)
      case "starting_after":
        guard let id = EventID(item.value) else { throw Self.unknownCursor }
        query.startingAfter = id
      case "type":
        guard let type = EventType(rawValue: item.value) else {
          throw PageInput.noneOf(EventType.allCases.map(\.rawValue), "type")
        }
        query.type = type
      default: throw .unknownParameter(item.name)
      }
    }
  }
}

/// The query of the list of deliveries: `limit`, `starting_after`, `status`.
struct ListDeliveriesInput {
  private(set) var query = DeliveryQuery()

  static let unknownCursor = ServiceError(
    .apiInvalidRequest, "`starting_after` names no delivery of this relying party.")

  init(parsing items: [QueryItem]) throws(ServiceError) {
    try PageInput.refuseRepetition(items)
    for item in items {
      switch item.name {
      case "limit": query.limit = try PageInput.limit(item.value)
      case "starting_after":
        guard let id = DeliveryID(item.value) else { throw Self.unknownCursor }
        query.startingAfter = id
      case "status":
        guard let status = DeliveryStatus(rawValue: item.value) else {
          throw PageInput.noneOf(DeliveryStatus.allCases.map(\.rawValue), "status")
        }
        query.status = status
      default: throw .unknownParameter(item.name)
      }
    }
  }
}

/// What the queries of all lists have in common.
enum PageInput {
  static let repetition = ServiceError(.apiInvalidRequest, "A query parameter is there twice.")

  static func refuseRepetition(_ items: [QueryItem]) throws(ServiceError) {
    guard Set(items.map(\.name)).count == items.count else { throw repetition }
  }

  static func limit(_ text: String) throws(ServiceError) -> Int {
    guard let limit = Int(text), (1...Limits.largestPage).contains(limit) else {
      throw ServiceError(.apiInvalidRequest, "`limit` must be a whole number from 1 to \(Limits.largestPage).")
    }
    return limit
  }

  static func noneOf(_ names: [String], _ parameter: String) -> ServiceError {
    let list = names.map { "`\($0)`" }.joined(separator: ", ")
    return ServiceError(.apiInvalidRequest, "`\(parameter)` must be one of \(list).")
  }
}
