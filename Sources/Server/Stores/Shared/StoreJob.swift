import Base
import Sessions

/// Work for a connection's thread, and the callback for the caller that waits.
struct StoreJob<Connection> {
  let work: (Connection) throws(StoreError) -> Void
  /// Called once, with nil on success, on the thread that learns the outcome.
  let finish: (StoreError?) -> Void
  let flow = Flow.current

  /// Hands a job to `enqueue`, and suspends until it has ended.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value, enqueue: (StoreJob) -> Void
  ) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      var value: Value?
      enqueue(
        StoreJob(
          work: { connection throws(StoreError) in value = try body(connection) },
          finish: { error in
            if let error {
              continuation.resume(returning: .failure(error))
            } else if let value {
              continuation.resume(returning: .success(value))
            } else {
              continuation.resume(returning: .failure(.closed))
            }
          }))
    }
    return try result.get()
  }
}
