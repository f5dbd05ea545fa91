import Primitives

/// Reads audit entries and heads, of all relying parties: for operators alone.
struct ReadAudit {
  let context: ServiceContext

  /// A page of one node's entries as lines, and its head.
  func entries(_ query: [QueryItem], as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try caller.require(.admin)
    let input = try AuditEntriesInput(parsing: query)
    let page: AuditPage
    do {
      page = try await context.store.auditEntries(of: input.node, after: input.after, limit: input.limit)
    } catch {
      throw ServiceError(error)
    }
    let head = page.head.map { [AuditLine.head($0)] } ?? []
    return AuditLine.bytes(of: page.links.map { .entry($0) } + head)
  }

  func heads(as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try caller.require(.admin)
    do {
      return AuditLine.bytes(of: try await context.store.auditHeads().map { .head($0) })
    } catch {
      throw ServiceError(error)
    }
  }
}
