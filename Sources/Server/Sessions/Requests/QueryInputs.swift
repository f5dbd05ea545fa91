import Base

/// The query of `GET …/{id}`: `expand[]=result`, with the response code where the wallet was given one, or nothing.
struct GetSessionInput {
  let expandsResult: Bool
  let responseCode: String?

  init(parsing query: [QueryItem]) throws(ServiceError) {
    let codes = query.filter { $0.name == "response_code" }
    guard codes.count <= 1 else { throw ServiceError(.apiInvalidRequest, "A query parameter is there twice.") }
    responseCode = codes.first?.value
    var expandsResult = false
    for item in query where item.name != "response_code" {
      guard item.name == "expand[]" || item.name == "expand" else { throw .unknownParameter(item.name) }
      guard item.value == "result" else {
        throw ServiceError(.apiInvalidRequest, "Only `result` can be expanded.")
      }
      expandsResult = true
    }
    self.expandsResult = expandsResult
  }
}

/// The query of the list: `limit`, `starting_after`, `status`, and `expand[]`, which may be there for each part.
struct ListSessionsInput {
  private(set) var query = SessionQuery()

  init(parsing items: [QueryItem]) throws(ServiceError) {
    try PageInput.refuseRepetition(items.filter { !Self.expand.contains($0.name) })
    for item in items {
      switch item.name {
      case let name where Self.expand.contains(name):
        guard let part = SessionPart(rawValue: item.value) else {
          throw PageInput.noneOf(SessionPart.allCases.map(\.rawValue), "expand[]")
        }
        guard query.parts.insert(part).inserted else { throw PageInput.repetition }
      case "limit": query.limit = try PageInput.limit(item.value)
      case "starting_after":
        guard let id = SessionID(item.value) else {
          throw ServiceError(.apiInvalidRequest, "`starting_after` names no session of this relying party.")
        }
        query.startingAfter = id
      case "status":
        guard let status = SessionStatus(rawValue: item.value) else {
          throw PageInput.noneOf(SessionStatus.allCases.map(\.rawValue), "status")
        }
        query.status = status
      default: throw .unknownParameter(item.name)
      }
    }
  }
}

extension ListSessionsInput {
  private static let expand: Set = ["expand[]", "expand"]
}

extension ServiceError {
  static func unknownParameter(_ name: String) -> ServiceError {
    ServiceError(.apiUnknownMember, "The query parameter `\(name)` is not known here.")
  }
}
