import Primitives

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

extension InMemoryStore {
  public func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try locked { contents throws(StoreError) in
      let audit = contents.audit
      guard node == audit.head.node, audit.head.sequence > 0 else { return AuditPage(links: [], head: nil) }
      let links = audit.links.drop { $0.head.sequence <= sequence }.prefix(limit)
      return AuditPage(links: Array(links), head: audit.head)
    }
  }

  public func auditHeads() async throws(StoreError) -> [AuditHead] {
    try locked { contents throws(StoreError) in contents.audit.head.sequence > 0 ? [contents.audit.head] : [] }
  }
}
