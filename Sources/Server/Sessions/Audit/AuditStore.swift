import Base

/// The audit entries of a store: one for each attempt at a challenge, chained by node.
///
/// A store writes an entry itself, in the transaction of the change that ends the attempt (`recordOutcome`, `sweep`,
/// `redact`): no outcome is acknowledged without its entry. Nothing deletes or changes one.
package protocol AuditStore: Sendable {
  /// The node's entries after `sequence`, in their order, at most `limit`, and its head at that moment.
  ///
  /// - Parameter relyingParty: reads the entries of this relying party only, and the head of its last entry, which is a
  ///   place on the node's chain like any other. Nil reads all.
  func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage

  /// The heads of all nodes that have entries, sorted by name. With a relying party, each head is that of its last
  /// entry.
  func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead]
}

extension AuditStore {
  package func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await auditEntries(of: node, nil, after: sequence, limit: limit)
  }

  package func auditHeads() async throws(StoreError) -> [AuditHead] { try await auditHeads(of: nil) }
}

package struct AuditPage: Sendable, Hashable {
  package let links: [AuditLink]
  /// Nil where the node has no entry.
  package let head: AuditHead?

  package init(links: [AuditLink], head: AuditHead?) {
    self.links = links
    self.head = head
  }
}

/// Writes out all chains of a store, up to the heads that they had when the export began. Those heads are the last
/// lines: an export without them was cut off.
package struct AuditExport {
  private static let portion = 500
  private let store: any AuditStore

  package init(_ store: any AuditStore) { self.store = store }

  /// - Parameter write: takes the lines, in portions.
  package func run<Fault: Error>(
    reading: (StoreError) -> Fault, _ write: ([UInt8]) throws(Fault) -> Void
  ) async throws(Fault) {
    let heads: [AuditHead]
    do throws(StoreError) { heads = try await store.auditHeads() } catch { throw reading(error) }
    for head in heads {
      var after: Int64 = 0
      while after < head.sequence {
        let page: AuditPage
        do throws(StoreError) {
          page = try await store.auditEntries(
            of: head.node, after: after, limit: Int(min(Int64(Self.portion), head.sequence - after)))
        } catch {
          throw reading(error)
        }
        guard let last = page.links.last else { throw reading(.corrupt("audit entries that end before their head")) }
        try write(AuditLine.bytes(of: page.links.map { .entry($0) }))
        after = last.head.sequence
      }
    }
    try write(AuditLine.bytes(of: heads.map { .head($0) }))
  }
}
