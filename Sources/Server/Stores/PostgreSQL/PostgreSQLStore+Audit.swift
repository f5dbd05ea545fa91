import Base
import Sessions

extension PostgreSQLStore {
  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    let own: [PostgreSQLValue] = relyingParty.map { [.text($0)] } ?? []
    return try await pool.perform(.list) { connection throws(StoreError) in
      let links = try connection.rows(
        """
        SELECT sequence, hash, entry FROM audit WHERE node = $1 AND sequence > $2 \(own.isEmpty ? "" : "AND relying_party = $4")
        ORDER BY sequence LIMIT $3
        """, [.text(node.text), .integer(sequence), .integer(Int64(limit))] + own
      ) { AuditLink(head: AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)), entry: $0.blob(2)) }
      // Read after the entries, so that the head is never older than the last of them.
      let head = try connection.first(
        """
        SELECT sequence, hash FROM audit WHERE node = $1 \(own.isEmpty ? "" : "AND relying_party = $2")
        ORDER BY sequence DESC LIMIT 1
        """, [.text(node.text)] + own
      ) { AuditHead(node: node, sequence: $0.integer(0), hash: $0.blob(1)) }
      return AuditPage(links: links, head: head)
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    let all = "SELECT node, sequence, hash FROM audit_heads ORDER BY node"
    let own = """
      SELECT heads.node, last.sequence, last.hash FROM audit_heads AS heads CROSS JOIN LATERAL (
        SELECT sequence, hash FROM audit WHERE relying_party = $1 AND audit.node = heads.node
        ORDER BY sequence DESC LIMIT 1) AS last
      ORDER BY heads.node
      """
    let rows = try await pool.perform(.list) { connection throws(StoreError) in
      try connection.rows(relyingParty == nil ? all : own, relyingParty.map { [.text($0)] } ?? []) {
        (node: $0.text(0), sequence: $0.integer(1), hash: $0.blob(2))
      }
    }
    var heads: [AuditHead] = []
    for row in rows {
      guard let node = NodeName(row.node) else { throw .corrupt("a node's name") }
      heads.append(AuditHead(node: node, sequence: row.sequence, hash: row.hash))
    }
    return heads
  }

  // MARK: Writing

  /// Two more parts of a statement that changes a session. They move the node's head on and add the entry. The head is
  /// locked until the commit, so other processes of the same node's name wait. The database computes the chain's hash
  /// (`AuditHead`), since only it knows which head the entry follows.
  ///
  /// - Parameters:
  ///   - parameter: the number of the first of the four `values(of:_:)`.
  ///   - condition: SQL that says whether there is an entry to append.
  static func append(from parameter: Int, where condition: String) -> String {
    let (node, entry, first, party) = (
      "$\(parameter)", "$\(parameter + 1)", "$\(parameter + 2)", "$\(parameter + 3)"
    )
    return """
      linked AS (INSERT INTO audit_heads AS heads (node, sequence, hash) SELECT \(node), 1, \(first) WHERE \(condition)
        ON CONFLICT (node) DO UPDATE SET sequence = heads.sequence + 1,
          hash = sha256(heads.hash || int8send(heads.sequence + 1) || \(entry))
        RETURNING node, sequence, hash),
      audited AS (INSERT INTO audit (node, sequence, entry, hash, relying_party)
        SELECT node, sequence, \(entry), hash, \(party) FROM linked)
      """
  }

  /// Four values: the node, the entry, the hash that the entry has if it is the node's first, and the relying party.
  static func values(of entry: AuditEntry, _ node: NodeName) -> [PostgreSQLValue] {
    let first = AuditLink(entry, after: AuditHead(beginning: node))
    return [.text(node.text), .blob(first.entry), .blob(first.head.hash), .text(entry.address.relyingParty)]
  }
}

extension PostgreSQLConnection {
  /// Appends an entry to a node's chain, in the transaction of the change that it records.
  func write(_ entry: AuditEntry, to node: NodeName) throws(StoreError) {
    _ = try query(
      "WITH \(PostgreSQLStore.append(from: 1, where: "true")) SELECT sequence FROM linked",
      PostgreSQLStore.values(of: entry, node))
  }
}
