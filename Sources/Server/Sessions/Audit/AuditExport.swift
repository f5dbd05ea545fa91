import Base

/// Writes out all chains of a store, up to the heads that they had at its beginning: those are its last lines, so that
/// an export that was cut off is known by their absence.
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
