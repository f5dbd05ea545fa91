import Base

/// Reads audit entries and heads: with `admin` those of the key's own relying party, with `audit:read_all` all.
///
/// Entries of one relying party are no chain, since others' are left out; each has the chain's hash all the same, and so
/// has the head, which is the last of them: to be found on the chain of a full export.
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
