import Base
import Glibc

/// Closes connections that only wait for their peers, so that a new one finds room whoever holds all the others.
///
/// A connection on which the server works is never closed. Of the others, the address that has the most gives first:
/// those without a request under way, as every server may close them (RFC 9112, 9.3.1), and then those whose peer sends
/// a request or reads a reply, the one that has waited longest before the rest. So whoever takes the room gives it back,
/// and an address with few connections keeps them. Behind a proxy all have one address. A connection whose next request
/// has arrived in the kernel is none of them.
extension DeadlineSweeper {
  /// Closes some connections if more than `limit` are open, and a few more, so that not every new one comes here.
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
