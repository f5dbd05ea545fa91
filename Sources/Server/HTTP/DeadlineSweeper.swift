import Base
import Glibc

/// Cuts connections whose peer missed its deadline: slow headers, slow bodies, replies that nobody reads.
///
/// It only calls `shutdown`: libmicrohttpd then sees the end of the stream and closes the socket itself.
final class DeadlineSweeper: Sendable {
  private static let interval: UInt32 = 100_000  // microseconds: how late a cut can be

  private struct State {
    var connections: [ObjectIdentifier: ClientConnection] = [:]
    var stopped = false
  }

  private let state = Locked(State())

  /// All that are open, in no order.
  var connections: [ClientConnection] {
    state.withLock { Array($0.connections.values) }
  }

  /// Starts the thread, which lives until `stop`; false when the system has no thread to give.
  /// - Parameter besides: what else is to be looked after as often.
  func start(besides: @escaping @Sendable () -> Void) -> Bool {
    BackgroundThread.start("mdoc-sweep") { [self] in
      while sweep() {
        besides()
        usleep(Self.interval)
      }
    }
  }

  func stop() {
    state.withLock { $0.stopped = true }
  }

  func add(_ connection: ClientConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  /// Must be called before the descriptor is closed: the lock keeps a sweep from shutting down whatever socket gets the
  /// same number next.
  func remove(_ connection: ClientConnection) {
    _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  private func sweep() -> Bool {
    let now = Deadline.now()
    return state.withLock { state in
      for connection in state.connections.values where connection.claimOverdue(now: now) {
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
      }
      return !state.stopped
    }
  }
}
