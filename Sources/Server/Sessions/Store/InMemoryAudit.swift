import Base

/// The audit entries of a store in memory, which are its node's alone.
struct InMemoryAudit {
  let isLive: Bool
  private(set) var head: AuditHead
  private(set) var links: [AuditLink] = []

  init(node: NodeName, isLive: Bool) {
    self.isLive = isLive
    head = AuditHead(beginning: node)
  }

  mutating func write(_ outcome: AttemptOutcome, at now: Timestamp) {
    append(AuditEntry(of: outcome, at: now, isLive: isLive))
  }

  mutating func write(
    unfinished attempt: SessionState.Attempt, of address: SessionAddress, _ error: LastError?, at now: Timestamp
  ) {
    append(AuditEntry(unfinished: attempt, of: address, error, at: now, isLive: isLive))
  }

  private mutating func append(_ entry: AuditEntry) {
    let link = AuditLink(entry, after: head)
    links.append(link)
    head = link.head
  }
}

extension InMemoryAudit {
  /// Those of one relying party, or all.
  func links(of relyingParty: String?) -> [AuditLink] {
    guard let relyingParty else { return links }
    return links.filter { (try? JSON(parsing: $0.entry))?["relying_party"]?.string == relyingParty }
  }
}

extension InMemoryStore {
  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try locked { contents throws(StoreError) in
      let links = contents.audit.links(of: relyingParty)
      guard node == contents.audit.head.node, let last = links.last else { return AuditPage(links: [], head: nil) }
      return AuditPage(links: Array(links.drop { $0.head.sequence <= sequence }.prefix(limit)), head: last.head)
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try locked { contents throws(StoreError) in contents.audit.links(of: relyingParty).last.map { [$0.head] } ?? [] }
  }
}
