import Base
import Glibc
import Synchronization

/// One accepted socket and its deadline: the moment by which the peer must have sent its request or read the reply.
///
/// libmicrohttpd's own timeout measures silence only, so a peer that sends a byte a second would stay for ever. The
/// deadline here is absolute, and the sweeper enforces it.
final class AcceptedConnection: Sendable {
  let descriptor: Int32
  let remoteAddress: String
  let client: ClientAddress?
  /// Nanoseconds on the monotonic clock, or one of the marks `none` and `cut`.
  private let deadline: Atomic<Int64>

  /// The request under way; nil between requests. The connection owns it, so that it ends with the socket at the
  /// latest: libmicrohttpd 0.9.75 does not report the end of a request whose query uses up its memory.
  private let current = Locked<HTTPExchange?>(nil)

  private static let none = Int64.max
  private static let cut = Int64.min

  init(descriptor: Int32, remoteAddress: String, seconds: Int) {
    self.descriptor = descriptor
    self.remoteAddress = remoteAddress
    client = ClientAddress(remoteAddress)
    deadline = Atomic(Self.moment(in: seconds))
  }

  var exchange: HTTPExchange? { current.withLock { $0 } }

  func begin(_ exchange: HTTPExchange) {
    current.withLock { $0 = exchange }
  }

  /// Gives up the request under way and returns it; nil if there is none.
  func endExchange() -> HTTPExchange? {
    current.withLock { $0.take() }
  }

  /// Sets the deadline to `seconds` from now. Returns false if the sweeper has already cut the connection.
  @discardableResult
  func allow(seconds: Int) -> Bool {
    replace(with: Self.moment(in: seconds))
  }

  /// Lifts the deadline while the server works on the request. Returns false if the sweeper has already cut the
  /// connection; the request must then not be handled, since nobody would read the answer.
  func lift() -> Bool {
    replace(with: Self.none)
  }

  /// Marks an overdue connection as cut. Returns true only once; that caller then shuts the socket down.
  func claimOverdue(now: Int64) -> Bool {
    let seen = deadline.load(ordering: .relaxed)
    guard seen != Self.none, seen != Self.cut, seen <= now else { return false }
    return deadline.compareExchange(expected: seen, desired: Self.cut, ordering: .acquiringAndReleasing).exchanged
  }

  private func replace(with value: Int64) -> Bool {
    var seen = deadline.load(ordering: .relaxed)
    while seen != Self.cut {
      let result = deadline.compareExchange(expected: seen, desired: value, ordering: .acquiringAndReleasing)
      if result.exchanged { return true }
      seen = result.original
    }
    return false
  }

  private static func moment(in seconds: Int) -> Int64 {
    Deadline.now() + Int64(seconds) * 1_000_000_000
  }
}

/// Cuts connections whose peer missed its deadline: slow headers, slow bodies, replies that nobody reads.
///
/// It only calls `shutdown`: libmicrohttpd then sees the end of the stream and closes the socket itself.
final class DeadlineSweeper: Sendable {
  private static let interval: UInt32 = 100_000  // microseconds: how late a cut can be

  private struct State {
    var connections: [ObjectIdentifier: AcceptedConnection] = [:]
    var stopped = false
  }

  private let state = Locked(State())

  /// All open connections, in no order.
  var connections: [AcceptedConnection] {
    state.withLock { Array($0.connections.values) }
  }

  /// Starts the thread, which runs until `stop`. Returns false if the system has no thread to give.
  ///
  /// - Parameter besides: further work, done after each sweep.
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

  func add(_ connection: AcceptedConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  /// Must be called before the descriptor is closed. Otherwise a sweep could shut down another socket that gets the
  /// same number; the lock prevents that.
  func remove(_ connection: AcceptedConnection) {
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
