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
  /// The core holds its connections until they are closed, and libmicrohttpd holds the core for longer.
  unowned let core: TransportCore
  /// Nanoseconds on the monotonic clock, or one of the marks `none` and `cut`.
  private let deadline: Atomic<Int64>
  /// Whether the request under way only waits, so that nothing is lost if it ends with its peer.
  let isHeld = Atomic(false)
  /// When the deadline was last set.
  private let since: Atomic<Int64>

  /// The request under way; nil between requests. The connection owns it, so that it ends with the socket at the
  /// latest: libmicrohttpd 0.9.75 does not report the end of a request whose query uses up its memory.
  private let current = Locked<HTTPExchange?>(nil)

  private static let none = Int64.max
  private static let cut = Int64.min

  init(descriptor: Int32, remoteAddress: String, core: TransportCore) {
    self.descriptor = descriptor
    self.remoteAddress = remoteAddress
    client = ClientAddress(remoteAddress)
    self.core = core
    let now = Deadline.now()
    since = Atomic(now)
    deadline = Atomic(now + Self.nanoseconds(core.configuration.requestDeadline))
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
    let now = Deadline.now()
    since.store(now, ordering: .relaxed)
    return replace(with: now + Self.nanoseconds(seconds))
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

  var isCut: Bool { deadline.load(ordering: .relaxed) == Self.cut }

  /// The wait for the peer; nil while the server works on a request, or if the connection was cut.
  var wait: Wait? {
    let seen = deadline.load(ordering: .acquiring)
    guard seen != Self.none, seen != Self.cut else { return nil }
    return Wait(deadline: seen, since: since.load(ordering: .relaxed), isIdle: exchange == nil)
  }

  struct Wait {
    fileprivate let deadline: Int64
    let since: Int64
    /// Whether no request is under way; otherwise the peer sends one, or reads a reply.
    let isIdle: Bool
  }

  /// Marks the connection as cut, unless the peer has done something since the wait was looked at.
  func claim(_ wait: Wait) -> Bool {
    deadline.compareExchange(expected: wait.deadline, desired: Self.cut, ordering: .acquiringAndReleasing).exchanged
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

  private static func nanoseconds(_ seconds: Int) -> Int64 { Int64(seconds) * 1_000_000_000 }
}

/// Cuts connections whose peer missed its deadline: slow headers, slow bodies, replies that nobody reads.
///
/// It only calls `shutdown`: libmicrohttpd then sees the end of the stream and closes the socket itself.
final class DeadlineSweeper: Sendable {
  private static let interval: UInt32 = 100_000  // microseconds: how late a cut can be
  private static let peerHasClosed: Int16 = 0x2000  // `POLLRDHUP` (poll(2)), which Glibc's module lacks

  struct State {
    var connections: [ObjectIdentifier: AcceptedConnection] = [:]
    var stopped = false
  }

  let state = Locked(State())

  /// All open connections, in no order.
  var connections: [AcceptedConnection] {
    state.withLock { Array($0.connections.values) }
  }

  /// Cuts the held connections whose peer is gone, and returns them. libmicrohttpd does not look at a suspended
  /// connection, so nobody else would notice.
  ///
  /// A peer that has closed only its sending side counts as gone: what it wants to know cannot be told apart from a
  /// full close, which sends the same FIN. With TLS this is the end of the TCP connection below it.
  func cutAbandoned() -> [AcceptedConnection] {
    // The lock is held throughout, since a descriptor may be closed as soon as it is released (see `remove`).
    state.withLock { state in
      let held = state.connections.values.filter { $0.isHeld.load(ordering: .acquiring) }
      var sockets = held.map { pollfd(fd: $0.descriptor, events: Self.peerHasClosed, revents: 0) }
      guard !sockets.isEmpty, poll(&sockets, nfds_t(sockets.count), 0) > 0 else { return [] }
      let abandoned = zip(held, sockets).filter { $0.1.revents != 0 }.map(\.0)
      for connection in abandoned { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
      return abandoned
    }
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
