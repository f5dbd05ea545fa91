import Base
import Sessions

extension SQLiteStore {
  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await lister.perform { connection throws(StoreError) in
      try connection.auditEntries(of: node, relyingParty, after: sequence, limit: limit)
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try await lister.perform { connection throws(StoreError) in try connection.auditHeads(of: relyingParty) }
  }
}

/// Reads the audit entries of a store's file without a server, and changes nothing.
package final class SQLiteAuditReader: AuditStore {
  private let reader: DatabaseThread

  /// Opens the file. Blocks.
  ///
  /// - Throws: `StoreError` if it is no store's file, or has another version's schema.
  package init(path: String) throws(StoreError) {
    let connection = try SQLiteConnection(path: path, role: .reader)
    try SQLiteSchema.check(connection)
    reader = try DatabaseThread(connection, role: .reader)
  }

  deinit { reader.stop() }

  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await reader.perform { connection throws(StoreError) in
      try connection.auditEntries(of: node, relyingParty, after: sequence, limit: limit)
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try await reader.perform { connection throws(StoreError) in try connection.auditHeads(of: relyingParty) }
  }
}

extension SQLiteConnection {
  /// Appends an entry to a node's chain, in the transaction of the change that it records. Writers take turns, also
  /// those of other processes (`BEGIN IMMEDIATE`), so the chain's last row stays the last until the commit.
  func write(_ entry: AuditEntry, to node: NodeName) throws(StoreError) {
    let link = AuditLink(entry, after: try head(of: node, nil) ?? AuditHead(beginning: node))
    try run(
      "INSERT INTO audit (node, sequence, entry, hash, relying_party) VALUES (?, ?, ?, ?, ?)", .text(node.text),
      .integer(link.head.sequence), .blob(link.entry), .blob(link.head.hash), .text(entry.address.relyingParty))
  }

  /// A condition that selects the entries of the relying party, and its value; empty if nil, which selects all entries.
  private static func condition(_ relyingParty: String?) -> (sql: String, values: [SQLiteValue]) {
    relyingParty.map { ("relying_party = ? AND", [.text($0)]) } ?? ("", [])
  }

  fileprivate func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) throws(StoreError) -> AuditPage {
    let own = Self.condition(relyingParty)
    let links = try rows(
      "SELECT sequence, hash, entry FROM audit WHERE \(own.sql) node = ? AND sequence > ? ORDER BY sequence LIMIT ?",
      own.values + [.text(node.text), .integer(sequence), .integer(Int64(limit))]
    ) { AuditLink(head: AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)), entry: $0.blob(2)) }
    return AuditPage(links: links, head: try head(of: node, relyingParty))
  }

  fileprivate func auditHeads(of relyingParty: String?) throws(StoreError) -> [AuditHead] {
    let own = Self.condition(relyingParty)
    var heads: [AuditHead] = []
    var previous = ""
    // Steps from one node's name to the next by the index, since reading all entries takes longer the more there are.
    while let name = try rows(
      "SELECT min(node) FROM audit WHERE \(own.sql) node > ?", own.values + [.text(previous)], { $0.optionalText(0) }
    ).first, let name {
      guard let node = NodeName(name), let head = try head(of: node, relyingParty) else {
        throw .corrupt("a node's name")
      }
      heads.append(head)
      previous = name
    }
    return heads
  }

  private func head(of node: NodeName, _ relyingParty: String?) throws(StoreError) -> AuditHead? {
    let own = Self.condition(relyingParty)
    return try rows(
      "SELECT sequence, hash FROM audit WHERE \(own.sql) node = ? ORDER BY sequence DESC LIMIT 1",
      own.values + [.text(node.text)]
    ) { AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)) }.first
  }
}
