import Base
import Glibc

/// A client's address, as far as limits distinguish clients: an IPv4 address, or the first 64 bits of an IPv6 address,
/// since a client that has one address of such a network has all 2⁶⁴.
package enum ClientAddress: Hashable, Sendable {
  case four(UInt32)
  case six(UInt64)

  /// Nil if the text is no numeric address.
  package init?(_ text: some StringProtocol) {
    guard let bytes = AddressBlock.bytes(of: text) else { return nil }
    let number = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    self = bytes.count == 4 ? .four(UInt32(truncatingIfNeeded: number)) : .six(number)
  }
}

/// An address or a network, `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32` (RFC 4632, 3.1; RFC 4291, 2.3).
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

  /// The address in 4 bytes (IPv4) or 16 bytes (IPv6); nil if the text is no numeric address. An IPv4 address mapped
  /// into IPv6 gives 4 bytes (RFC 4291, 2.5.5.2).
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

/// Counts the open connections of each client address, as `ClientAddress` distinguishes them. libmicrohttpd's own count
/// would take each of the 2⁶⁴ addresses of one IPv6 network for another client.
final class ConnectionCounts: Sendable {
  private let counts = Locked<[ClientAddress: Int]>([:])
  /// The most connections of one address; 0 means no limit.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Whether this address may have one more connection. A connection counts only from `opened` on: an accepted one may
  /// still fail for lack of memory, and then no call of `closed` follows.
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
