import Base

/// The open connections of each client address, as `ClientAddress` tells them apart: libmicrohttpd's own count takes each
/// of the 2⁶⁴ addresses of one IPv6 network for another client.
final class ConnectionCounts: Sendable {
  private let counts = Locked<[ClientAddress: Int]>([:])
  /// Of one address; 0: any number.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Whether one more may be accepted. It counts from `opened` on: what is accepted may still fail for want of memory, and
  /// then nobody says that it has closed.
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
