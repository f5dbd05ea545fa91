import Base
import Glibc
import HTTP

/// Runs blocking code on a thread of its own, away from the pool that the handlers run on.
package func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    let isStarted = BackgroundThread.start { continuation.resume(with: Result(catching: body)) }
    if !isStarted { continuation.resume(throwing: HTTPServerError.cannotStart) }
  }
}

/// Sends a request on a new connection and reads one reply.
package func ask(_ port: UInt16, _ request: String) async throws -> RawClient.Response {
  try await blocking {
    let client = try RawClient(port: port)
    client.send(request)
    return try client.response()
  }
}

/// Waits for a condition, at most this number of seconds; false if it was never met.
package func eventually(within seconds: Int = 10, _ condition: @Sendable () -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while ContinuousClock.now < end {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return condition()
}

/// Passes a client from one `blocking` to the next.
// Sendable by use: a test awaits each `blocking` before it starts the next, so that no two threads hold it at once.
package final class Held<Value>: @unchecked Sendable {
  package var value: Value
  package init(_ value: Value) { self.value = value }
}

package func usleepMilliseconds(_ count: UInt32) { usleep(count * 1000) }
