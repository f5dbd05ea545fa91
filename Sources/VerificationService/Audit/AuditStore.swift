import Primitives

/// The audit entries of a store: one for each attempt at a challenge, chained by node.
///
/// A store writes an entry itself, in the transaction of the change that ends the attempt (`recordOutcome`, `sweep`,
/// `redact`): no outcome is acknowledged without its entry. Nothing deletes or changes one.
public protocol AuditStore: Sendable {
  /// The node's entries after `sequence`, in their order, at most `limit`, and its head at that moment.
  func auditEntries(of node: NodeName, after sequence: Int64, limit: Int) async throws(StoreError) -> AuditPage

  /// The heads of all nodes that have entries, by name.
  func auditHeads() async throws(StoreError) -> [AuditHead]
}

public struct AuditPage: Sendable, Hashable {
  public let links: [AuditLink]
  /// Nil where the node has no entry.
  public let head: AuditHead?

  public init(links: [AuditLink], head: AuditHead?) {
    self.links = links
    self.head = head
  }
}
