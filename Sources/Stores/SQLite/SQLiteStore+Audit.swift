import Primitives
import VerificationService

extension SQLiteStore {
  public func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await reader.perform { connection throws(StoreError) in
      try connection.auditEntries(of: node, after: sequence, limit: limit)
    }
  }

  public func auditHeads() async throws(StoreError) -> [AuditHead] {
    try await reader.perform { connection throws(StoreError) in try connection.auditHeads() }
  }
}

/// The audit entries of a store's file, read without a server and without changing anything.
public final class SQLiteAuditReader: AuditStore {
  private let reader: DatabaseThread

  /// Refuses a file that is none, or of another version. It blocks.
  public init(path: String) throws(StoreError) {
    let connection = try SQLiteConnection(path: path, role: .reader)
    try SQLiteSchema.check(connection)
    reader = try DatabaseThread(connection, role: .reader)
  }

  deinit { reader.stop() }

  public func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await reader.perform { connection throws(StoreError) in
      try connection.auditEntries(of: node, after: sequence, limit: limit)
    }
  }

  public func auditHeads() async throws(StoreError) -> [AuditHead] {
    try await reader.perform { connection throws(StoreError) in try connection.auditHeads() }
  }
}

extension SQLiteConnection {
  /// Appends an entry to a node's chain, in the transaction of the change that it tells. Writers take turns, those of
  /// other processes too (`BEGIN IMMEDIATE`), so that the last row is the last one until the commit.
  func write(_ entry: AuditEntry, to node: NodeName) throws(StoreError) {
    let link = AuditLink(entry, after: try head(of: node) ?? AuditHead(beginning: node))
    try run(
      "INSERT INTO audit (node, sequence, entry, hash) VALUES (?, ?, ?, ?)", .text(node.text),
      .integer(link.head.sequence), .blob(link.entry), .blob(link.head.hash))
  }

  fileprivate func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) throws(StoreError) -> AuditPage {
    let links = try rows(
      "SELECT sequence, hash, entry FROM audit WHERE node = ? AND sequence > ? ORDER BY sequence LIMIT ?",
      [.text(node.text), .integer(sequence), .integer(Int64(limit))]
    ) { AuditLink(head: AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)), entry: $0.blob(2)) }
    return AuditPage(links: links, head: try head(of: node))
  }

  fileprivate func auditHeads() throws(StoreError) -> [AuditHead] {
    var heads: [AuditHead] = []
    var previous = ""
    // From one name to the next by the key, since counting through all entries would take as long as they are many.
    while let name = try first(
      "SELECT min(node) FROM audit WHERE node > ?", .text(previous), read: { $0.optionalText(0) }),
      let name
    {
      guard let node = NodeName(name), let head = try head(of: node) else { throw .corrupt("a node's name") }
      heads.append(head)
      previous = name
    }
    return heads
  }

  private func head(of node: NodeName) throws(StoreError) -> AuditHead? {
    try first(
      "SELECT sequence, hash FROM audit WHERE node = ? ORDER BY sequence DESC LIMIT 1", .text(node.text)
    ) { AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)) }
  }
}
