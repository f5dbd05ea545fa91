import Base

/// The query of the audit entries: `node`, `after`, `limit`.
struct AuditEntriesInput {
  let node: NodeName
  let after: Int64
  let limit: Int

  init(parsing items: [QueryItem]) throws(ServiceError) {
    try PageInput.refuseRepetition(items)
    var node: NodeName?
    var after: Int64 = 0
    var limit = Limits.largestAuditPage
    for item in items {
      switch item.name {
      case "node": node = NodeName(item.value)
      case "after":
        guard let sequence = Int64(item.value), sequence >= 0 else {
          throw ServiceError(.apiInvalidRequest, "`after` must be the sequence of an entry, or 0.")
        }
        after = sequence
      case "limit":
        guard let number = Int(item.value), (1...Limits.largestAuditPage).contains(number) else {
          throw ServiceError(
            .apiInvalidRequest, "`limit` must be a whole number from 1 to \(Limits.largestAuditPage).")
        }
        limit = number
      default: throw .unknownParameter(item.name)
      }
    }
    guard let node else {
      throw ServiceError(.apiInvalidRequest, "`node` must be the name of a node, as `/v1/audit/heads` has it.")
    }
    self.node = node
    self.after = after
    self.limit = limit
  }
}
