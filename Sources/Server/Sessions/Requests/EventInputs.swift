import Base

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
