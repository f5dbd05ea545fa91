import Base
import Glibc

/// Closes connections that only wait for their peers, so that a new one finds room whoever holds all the others.
///
/// A connection on which the server works is never closed. First go those without a request under way, as every server
/// may close them (RFC 9112, 9.3.1): of the address that has the most, the one that has waited longest. Behind a proxy
/// all have one address, so that is the longest unused. A connection whose next request has arrived in the kernel is
/// none of them. If they are not enough, those go whose peers have for seconds sent a request or read a reply.
extension DeadlineSweeper {
  /// Closes some connections if more than `limit` are open, and a few more, so that not every new one comes here.
  func makeRoom(within limit: Int) {
    guard state.withLock({ $0.connections.count }) > limit else { return }
    let late = Deadline.now() - Limits.slowPeer
    let open = connections.filter { !$0.isCut }
    guard open.count > limit else { return }
    var excess = open.count - limit + limit / 32
    let waiting = open.compactMap { connection in connection.wait.map { (connection: connection, wait: $0) } }
    for isIdle in [true, false] {
      let mayGo = waiting.filter { $0.wait.isIdle == isIdle && (isIdle || $0.wait.since < late) }
      var byAddress = Dictionary(grouping: mayGo.sorted { $0.wait.since > $1.wait.since }, by: \.connection.client)
      while excess > 0, let most = byAddress.max(by: { $0.value.count < $1.value.count })?.key,
        let (connection, wait) = byAddress[most]?.popLast()
      {
        if cut(connection, wait) { excess -= 1 }
      }
    }
  }

  /// Cuts the connection unless its peer has just done something. Returns whether it did.
  private func cut(_ connection: AcceptedConnection, _ wait: AcceptedConnection.Wait) -> Bool {
    state.withLock { state in
      // Under the lock an open connection's descriptor is not closed.
      guard state.connections[ObjectIdentifier(connection)] != nil,
        !(wait.isIdle && connection.hasUnreadBytes), connection.claim(wait)
      else { return false }
      shutdown(connection.descriptor, Int32(SHUT_RDWR))
      return true
    }
  }
}

extension AcceptedConnection {
  /// Whether bytes have arrived that libmicrohttpd has not read.
  fileprivate var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }
}

extension Limits {
  /// Nanoseconds that a peer may take to send a request, or to read a reply, when others find no room.
  static let slowPeer: Int64 = 2_000_000_000
}
