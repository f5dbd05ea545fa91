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
    let now = Deadline.now()
    var idle = Waiting()
    var slow = Waiting()
    let open = connections.filter { !$0.isCut }
    for connection in open {
      guard let wait = connection.wait else { continue }
      if wait.isIdle {
        idle.add(connection, wait)
      } else if now - wait.since > Limits.slowPeer {
        slow.add(connection, wait)
      }
    }
    guard open.count > limit else { return }
    var excess = open.count - limit + limit / 32
    while excess > 0, let (connection, wait) = idle.next() ?? slow.next() {
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

/// Connections that wait for their peers, by address.
private struct Waiting {
  typealias Entry = (connection: AcceptedConnection, wait: AcceptedConnection.Wait)

  private var entries: [ClientAddress?: [Entry]] = [:]
  private var isSorted = false

  mutating func add(_ connection: AcceptedConnection, _ wait: AcceptedConnection.Wait) {
    entries[connection.client, default: []].append((connection, wait))
  }

  /// Takes out the one that has waited longest, of the address with the most; nil if none is left.
  mutating func next() -> Entry? {
    if !isSorted {
      for address in entries.keys { entries[address]?.sort { $0.wait.since > $1.wait.since } }
      isSorted = true
    }
    guard let address = entries.max(by: { $0.value.count < $1.value.count })?.key else { return nil }
    return entries[address]?.popLast()
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
