import Base
import Sessions

/// Sessions in a PostgreSQL database, which any number of nodes share.
///
/// What decides is one statement each, so that of two nodes that take the same challenge one gets it; to create and to
/// consume are one round trip. Time is always the node's, never the database's. A connection that is lost is made again
/// by itself, and meanwhile every call is `unavailable`, with nothing done that was acknowledged.
package final class PostgreSQLStore: SessionStore {
  /// Connections of one node. More would not commit faster: the database's cores and disk are what is shared.
  package static let connections = 8

  package let isLive: Bool
  /// Whose chain of audit entries this process writes.
  package let node: NodeName
  let pool: PostgreSQLPool
  let outcomes: OutcomeLine
  /// Until when the last write of a probe is good enough.
  private let proved = Locked<Deadline?>(nil)

  /// Connects, and refuses a schema that is not this version's. It blocks: for the start of the program, not for a task.
  package init(
    _ address: PostgreSQLAddress, isLive: Bool, node: NodeName = .standard, connections: Int = connections
  ) throws(StoreError) {
    self.isLive = isLive
    self.node = node
    let first = try PostgreSQLConnection(address)
    try PostgreSQLSchema.check(first, isLive: isLive)
    pool = try PostgreSQLPool(address, size: connections, first: first)
    outcomes = OutcomeLine(pool)
  }

  /// Brings the database to this version's schema, which has it serve this mode alone from then on. Blocks. Several at
  /// once take turns.
  package static func migrate(_ address: PostgreSQLAddress, isLive: Bool) throws(StoreError) {
    try PostgreSQLSchema.prepare(PostgreSQLConnection(address), isLive: isLive)
  }

  deinit { pool.stop() }

  /// Writes, at most once a second, since anybody may ask for it: a full disk or a standby refuses.
  package func probe() async throws(StoreError) {
    let isDue = proved.withLock { $0?.isPast ?? true }
    _ = try await pool.perform { connection throws(StoreError) in
      if isDue { try connection.run("UPDATE mode SET is_live = is_live") } else { try connection.run("SELECT 1") }
    }
    if isDue { proved.withLock { $0 = Deadline(in: .seconds(1)) } }
  }

  package func close() async { await pool.close() }
}
