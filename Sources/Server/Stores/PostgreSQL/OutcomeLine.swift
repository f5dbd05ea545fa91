import Base
import Sessions

/// The outcomes of a node, which go into its chain of audit entries one after the other: those that come while a commit
/// is under way go together in the next one.
///
/// Each of them holds the chain's head until its commit is on disk. On connections of their own they would take turns at
/// the disk's pace, and hold up with them the connections that all else needs.
final class OutcomeLine: Sendable {
  /// Outcomes in one commit: bounds how long a caller waits, and what is done again where one of them fails.
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

  /// Runs the statement that records an outcome; whether it changed anything, durably, when this returns.
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

  /// Has a connection take the next group, and after it the one that has come meanwhile.
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
          // No connection took it: nothing of any of them was done.
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

  /// Together, and where one of them cannot be recorded each by itself: it takes no other with it.
  private static func run(_ group: [Waiting], on connection: PostgreSQLConnection) -> [Result<Bool, StoreError>] {
    if group.count > 1 {
      do throws(StoreError) {
        return try connection.pipeline([hold(group)] + group.map(\.statement)).dropFirst().map { .success($0 > 0) }
      } catch {
        // Where the connection is lost it is not known whether they were recorded: to the callers they are not. And what
        // the database could not do in time together it would not do sooner one by one.
        if case .unavailable = error { return group.map { _ in .failure(error) } }
      }
    }
    return group.map { waiting in
      Result { () throws(StoreError) in
        try connection.query(waiting.statement.sql, waiting.statement.values).changes > 0
      }
    }
  }

  /// Sessions are held before the chain's head, as by all who change one: whoever redacts one of them meanwhile would
  /// otherwise wait for the head, and the group for the session.
  private static func hold(_ group: [Waiting]) -> PostgreSQLStatement {
    PostgreSQLStatement(
      sql: "SELECT id FROM sessions WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE",
      values: [.texts(group.map(\.session.text))])
  }
}
