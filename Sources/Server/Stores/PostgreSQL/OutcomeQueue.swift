import Base
import Sessions

/// Records a node's outcomes in sequence. Each outcome locks the head of the node's audit chain until the commit is on
/// disk. Outcomes that arrive during a commit share the next commit and its connection.
final class OutcomeQueue: Sendable {
  /// Maximum number of outcomes in one commit. Limits a caller's wait, and the number of outcomes to repeat after one
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

  /// Runs the statement that records an outcome. Returns true once the change is durable, or false if nothing changed.
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

  /// Passes the next group to a connection. Then continues with the outcomes that arrived in the meantime.
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
          // No connection ran the group, so no outcome was recorded.
          if let error {
            for waiting in take(atMost: .max) { waiting.continuation.resume(returning: .failure(error)) }
          }
          let hasMore = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
          }
          if hasMore { runNext() }
        }))
  }

  private func take(atMost count: Int) -> [Waiting] {
    state.withLock { state in
      let group = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(group.count)
      return group
    }
  }

  /// Runs the group in one transaction. If an outcome cannot be recorded, runs each outcome by itself.
  private static func run(_ group: [Waiting], on connection: PostgreSQLConnection) -> [Result<Bool, StoreError>] {
    if group.count > 1 {
      do throws(StoreError) {
        return try connection.pipeline([hold(group)] + group.map(\.statement)).dropFirst().map { .success($0 > 0) }
      } catch {
        // If the connection was lost, the outcomes must count as not recorded. If the database was too slow for the
        // group, single outcomes are no faster.
        if case .unavailable = error { return group.map { _ in .failure(error) } }
      }
    }
    return group.map { waiting in
      Result { () throws(StoreError) in try connection.run(waiting.statement.sql, waiting.statement.values) > 0 }
    }
  }

  /// Locks the group's sessions before the chain's head, as every change of a session does. Otherwise a redaction and
  /// the group can deadlock. The redaction locks its session and waits for the head, while the group locks the head and
  /// waits for that session.
  private static func hold(_ group: [Waiting]) -> PostgreSQLStatement {
    PostgreSQLStatement(
      sql: "SELECT id FROM sessions WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE",
      values: [.texts(group.map(\.session.text))])
  }
}
