import Base
import CPostgreSQL
import Sessions

/// A statement and its values, to be run later.
struct PostgreSQLStatement: Sendable {
  let sql: String
  let values: [PostgreSQLValue]
}

extension PostgreSQLConnection {
  /// Runs statements in one round trip and one transaction, and returns how many rows each changed or found: all of them
  /// are done, or where one fails none.
  ///
  /// What is sent before a synchronisation point is one transaction, committed there (PostgreSQL 15, 34.5.1), so that a
  /// failure of the commit itself comes before the point's own result.
  func pipeline(_ statements: [PostgreSQLStatement]) throws(StoreError) -> [Int] {
    // Before anything is sent: to prepare is a round trip of its own, once a connection.
    var names: [String] = []
    for statement in statements { names.append(try prepare(statement.sql, statement.values)) }
    let deadline = Deadline(in: answerTime)
    guard !isLost, PQenterPipelineMode(handle) == 1 else { throw lost() }
    for (name, statement) in zip(names, statements) where send(name, statement.values.map(\.bytes)) != 1 {
      throw lost()
    }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    try flush(until: deadline)
    var changes: [Int] = []
    var failure: StoreError?
    while true {
      guard let result = try nextResult(until: deadline) else {
        // Between the results of two statements, or the connection is gone.
        guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
        continue
      }
      switch result.status {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK: changes.append(result.changes)
      // Not run, for the failure of one before it.
      case PGRES_PIPELINE_ABORTED: continue
      case PGRES_PIPELINE_SYNC:
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        if let failure { throw failure }
        return changes
      default:
        let fault = try fault(of: result)
        failure = failure ?? fault
      }
    }
  }
}
