import Base
import Glibc
import Synchronization

/// One accepted socket, with the deadline for its peer. libmicrohttpd's own timeout measures only silence. A peer that
/// sends one byte a second never reaches that timeout.
final class AcceptedConnection: Sendable {
  let descriptor: Int32
  let remoteAddress: String
  let client: ClientAddress?
  /// The core retains its connections until they are closed. libmicrohttpd retains the core for longer.
  unowned let core: TransportCore
  /// Nanoseconds on the monotonic clock, or one of the marks `none` and `cut`.
  private let deadline: Atomic<Int64>
  /// True while the request only waits. It can then end without loss when its peer disconnects.
  let isHeld = Atomic(false)
  private let since: Atomic<Int64>

  /// The request in progress. The connection owns it, so that it ends with the socket. libmicrohttpd 0.9.75 does not
  /// report the end of every request.
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

  func begin(_ exchange: HTTPExchange) { current.withLock { $0 = exchange } }

  /// Releases the request in progress and returns it; nil if there is none.
  func endExchange() -> HTTPExchange? { current.withLock { $0.take() } }

  /// Sets the deadline to `seconds` from now. Returns false if the sweeper has already cut the connection.
  @discardableResult
  func allow(seconds: Int) -> Bool {
    let now = Deadline.now()
    since.store(now, ordering: .relaxed)
    return replace(with: now + Self.nanoseconds(seconds))
  }

  /// Lifts the deadline while the server works. Returns false if the connection was cut: nobody can read the reply
  /// then.
  func lift() -> Bool { replace(with: Self.none) }

  /// Marks an overdue connection as cut. Returns true only for the first caller, which must then shut the socket down.
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
    /// True if no request is in progress; false if the peer is sending a request or reading a reply.
    let isIdle: Bool
  }

  /// Marks the connection as cut, unless the peer has been active since the wait was read.
  func claim(_ wait: Wait) -> Bool {
    deadline.compareExchange(expected: wait.deadline, desired: Self.cut, ordering: .acquiringAndReleasing).exchanged
  }

  /// True if bytes have arrived that libmicrohttpd has not read.
  fileprivate var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
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

/// Cuts connections whose peer missed its deadline. Only calls `shutdown`: libmicrohttpd then closes the socket.
final class DeadlineSweeper: Sendable {
  private static let interval: UInt32 = 100_000  // microseconds: how late a cut can be
  private static let peerHasClosed: Int16 = 0x2000  // `POLLRDHUP` (poll(2)), which Glibc's module lacks

  struct State {
    var connections: [ObjectIdentifier: AcceptedConnection] = [:]
    var stopped = false
  }

  let state = Locked(State())

  var connections: [AcceptedConnection] { state.withLock { Array($0.connections.values) } }

  /// Cuts the held connections whose peer is gone, and returns these connections. libmicrohttpd does not watch a
  /// suspended connection. A peer that has closed only its sending side counts as gone, since a full close sends the
  /// same FIN.
  func cutAbandoned() -> [AcceptedConnection] {
    // Hold the lock throughout. Once it is released, a descriptor may be closed (see `remove`).
    state.withLock { state in
      let held = state.connections.values.filter { $0.isHeld.load(ordering: .acquiring) }
      var sockets = held.map { pollfd(fd: $0.descriptor, events: Self.peerHasClosed, revents: 0) }
      guard !sockets.isEmpty, poll(&sockets, nfds_t(sockets.count), 0) > 0 else { return [] }
      let abandoned = zip(held, sockets).filter { $0.1.revents != 0 }.map(\.0)
      for connection in abandoned { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
      return abandoned
    }
  }

  /// Starts the thread, which sweeps and calls `besides` until `stop`. Returns false if the system cannot start a
  /// thread.
  func start(besides: @escaping @Sendable () -> Void) -> Bool {
    BackgroundThread.start("mdoc-sweep") { [self] in
      while sweep() {
        besides()
        usleep(Self.interval)
      }
    }
  }

  func stop() { state.withLock { $0.stopped = true } }

  func add(_ connection: AcceptedConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  /// Call this before closing the descriptor. Otherwise a sweep may shut down a new socket with the same number.
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

/// Closes connections of the address with the most connections. Closes idle connections first (RFC 9112, 9.3.1), then
/// connections whose peer is sending a request or reading a reply. In each group, the longest wait comes first. A
/// connection stays open while the server works on its request, or if its next request is in the kernel's buffer.
/// Behind a proxy all connections have the same address.
extension DeadlineSweeper {
  /// Closes the connections above `limit` and a few more. Not every new connection then needs another call.
  func makeRoom(within limit: Int) {
    guard state.withLock({ $0.connections.count }) > limit else { return }
    let open = connections.filter { !$0.isCut }
    guard open.count > limit else { return }
    var excess = open.count - limit + limit / 32
    let waiting = open.compactMap { connection in connection.wait.map { (connection: connection, wait: $0) } }
    let lastFirst = waiting.sorted { one, other in
      one.wait.isIdle == other.wait.isIdle ? one.wait.since > other.wait.since : other.wait.isIdle
    }
    var byAddress = Dictionary(grouping: lastFirst, by: \.connection.client)
    while excess > 0, let most = byAddress.max(by: { $0.value.count < $1.value.count })?.key,
      let (connection, wait) = byAddress[most]?.popLast()
    {
      if cut(connection, wait) { excess -= 1 }
    }
  }

  /// Cuts the connection unless its peer has just been active. Returns true if it was cut.
  private func cut(_ connection: AcceptedConnection, _ wait: AcceptedConnection.Wait) -> Bool {
    state.withLock { state in
      // While the lock is held, the descriptor of an open connection is not closed.
      guard state.connections[ObjectIdentifier(connection)] != nil,
        !(wait.isIdle && connection.hasUnreadBytes), connection.claim(wait)
      else { return false }
      shutdown(connection.descriptor, Int32(SHUT_RDWR))
      return true
    }
  }
}

/// A client's address for limits: IPv4, or the first 64 bits of IPv6. A network of that size usually belongs to one
/// client.
package enum ClientAddress: Hashable, Sendable {
  case four(UInt32)
  case six(UInt64)

  package init?(_ text: some StringProtocol) {
    guard let bytes = AddressBlock.bytes(of: text) else { return nil }
    let number = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    self = bytes.count == 4 ? .four(UInt32(truncatingIfNeeded: number)) : .six(number)
  }
}

/// An address or a network, such as `192.0.2.7`, `10.0.0.0/8` or `2001:db8::/32` (RFC 4632, 3.1; RFC 4291, 2.3).
package struct AddressBlock: Sendable, Hashable {
  private let bytes: [UInt8]
  private let bits: Int

  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let bytes = Self.bytes(of: parts[0]) else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      bits = bytes.count * 8
      return
    }
    guard let bits = Int(parts[1]), String(bits) == parts[1], (0...bytes.count * 8).contains(bits) else { return nil }
    self.bits = bits
  }

  package func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
    let whole = bits / 8
    guard other[..<whole] == bytes[..<whole] else { return false }
    guard bits % 8 > 0 else { return true }
    return (other[whole] ^ bytes[whole]) >> (8 - bits % 8) == 0
  }

  /// The address in 4 or 16 bytes; nil if it is not numeric. An IPv4-mapped IPv6 address gives 4 bytes (RFC 4291,
  /// 2.5.5.2).
  package static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, String(text), &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]
    return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
  }
}

/// Counts the open connections of each `ClientAddress`. libmicrohttpd counts each address of an IPv6 network
/// separately.
final class ConnectionCounts: Sendable {
  private let counts = Locked<[ClientAddress: Int]>([:])
  /// Maximum number of connections from one address; 0 means no limit.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// True if this address may have another connection. A connection counts only from `opened` on. It may still fail
  /// after it is accepted.
  func mayAccept(_ address: ClientAddress?) -> Bool {
    guard limit > 0, let address else { return true }
    return counts.withLock { $0[address, default: 0] < limit }
  }

  func opened(_ address: ClientAddress?) {
    guard limit > 0, let address else { return }
    counts.withLock { $0[address, default: 0] += 1 }
  }

  func closed(_ address: ClientAddress?) {
    guard limit > 0, let address else { return }
    counts.withLock { counts in
      let rest = (counts[address] ?? 1) - 1
      counts[address] = rest > 0 ? rest : nil
    }
  }
}
