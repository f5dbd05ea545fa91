import Base

/// Reads audit entries and heads: with `admin` those of the key's own relying party, with `audit:read_all` all.
///
/// The entries of one relying party are no chain, since those of others are left out. Each still has its hash on the
/// node's chain. The head is that of the last entry, so that it can be found on the chain of a full export.
struct ReadAudit {
  let context: ServiceContext

  /// A page of one node's entries as lines, and its head.
  func entries(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> [UInt8] {
    let whose = try scope(of: caller)
    let input = try AuditEntriesInput(parsing: query)
    return try await context.lists.take(caller.relyingParty.id) { () async throws(StoreError) in
      let page = try await context.store.auditEntries(of: input.node, whose, after: input.after, limit: input.limit)
      let head = page.head.map { [AuditLine.head($0)] } ?? []
      return AuditLine.bytes(of: page.links.map { .entry($0) } + head)
    }
  }

  func heads(as caller: Caller) async throws(ServiceError) -> [UInt8] {
    let whose = try scope(of: caller)
    return try await context.lists.take(caller.relyingParty.id) { () async throws(StoreError) in
      AuditLine.bytes(of: try await context.store.auditHeads(of: whose).map { .head($0) })
    }
  }

  /// Whose entries the caller may read; nil for everybody's.
  private func scope(of caller: Caller) throws(ServiceError) -> String? {
    try caller.require(.admin, .auditReadAll)
    return caller.has(.auditReadAll) ? nil : caller.relyingParty.id
  }
}

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
