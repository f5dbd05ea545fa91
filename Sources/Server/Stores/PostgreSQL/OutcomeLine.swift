import Base
import Sessions

/// Records the outcomes of a node, which go into its chain of audit entries one after the other. Outcomes that come
/// during a commit go together into the next one.
///
/// Each outcome locks the chain's head until its commit is on disk. If each had a connection of its own, they would
/// take turns at the disk's pace and meanwhile occupy connections that other calls need.
final class OutcomeLine: Sendable {
  /// Outcomes in one commit. The limit bounds how long a caller waits, and how many are done again if one of them
  /// fails.
  static let largestGroup = 64

  private struct Waiting: Sendable {
    let statement: PostgreSQLStatement
    let session: SessionID
    let continuation: CheckedContinuation<Result<Bool, StoreError>, Never>
  }

  private struct State {
    var waiting: [Waiting] = []
    var isRunning = false
  }

  private let pool: PostgreSQLPool
  private let state = Locked(State())

  init(_ pool: PostgreSQLPool) { self.pool = pool }

  /// Runs the statement that records an outcome. Returns whether it changed anything; the change is then durable.
  func record(_ statement: PostgreSQLStatement, of session: SessionID) async throws(StoreError) -> Bool {
    let result = await withCheckedContinuation { continuation in
      let waiting = Waiting(statement: statement, session: session, continuation: continuation)
      let isFirst = state.withLock { state in
        state.waiting.append(waiting)
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isFirst { runNext() }
    }
    return try result.get()
  }

  /// Gives the next group to a connection, and after it the outcomes that have come meanwhile.
  private func runNext() {
    pool.enqueue(
      StoreJob(
        work: { [self] connection in
          let group = take(atMost: Self.largestGroup)
          for (waiting, result) in zip(group, Self.run(group, on: connection)) {
            waiting.continuation.resume(returning: result)
          }
        },
        finish: { [self] error in
          // No connection took the group, so nothing of it was done.
          if let error {
            for waiting in take(atMost: .max) { waiting.continuation.resume(returning: .failure(error)) }
          }
          let goesOn = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
          }
          if goesOn { runNext() }
        }))
  }

  private func take(atMost count: Int) -> [Waiting] {
    state.withLock { state in
      let group = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(group.count)
      return group
    }
  }

  /// Runs the group in one transaction. If one outcome cannot be recorded, each runs by itself, so that one failure
  /// takes no other with it.
  private static func run(_ group: [Waiting], on connection: PostgreSQLConnection) -> [Result<Bool, StoreError>] {
    if group.count > 1 {
      do throws(StoreError) {
        return try connection.pipeline([hold(group)] + group.map(\.statement)).dropFirst().map { .success($0 > 0) }
      } catch {
        // If the connection is lost, it is not known whether the outcomes were recorded; the callers must take them as
        // not recorded. If the database was too slow for the group, it would be no faster with one after the other.
        if case .unavailable = error { return group.map { _ in .failure(error) } }
      }
    }
    return group.map { waiting in
      Result { () throws(StoreError) in
        try connection.query(waiting.statement.sql, waiting.statement.values).changes > 0
      }
    }
  }

  /// Locks the group's sessions before the chain's head, in the order in which every change of a session locks them.
  /// Otherwise there could be a deadlock: a redaction of one of the sessions would wait for the head, and the group for
  /// that session.
  private static func hold(_ group: [Waiting]) -> PostgreSQLStatement {
    PostgreSQLStatement(
      sql: "SELECT id FROM sessions WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE",
      values: [.texts(group.map(\.session.text))])
  }
}
