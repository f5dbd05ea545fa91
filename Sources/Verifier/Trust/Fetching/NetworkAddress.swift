import Glibc

/// An IPv4 or IPv6 address.
public struct NetworkAddress: Sendable, Hashable {
  /// 4 or 16, in network order.
  public let octets: [UInt8]

  public init?(octets: [UInt8]) {
    guard octets.count == 4 || octets.count == 16 else { return nil }
    self.octets = octets
  }

  /// Only the textual forms of RFC 3986 are read: four decimal numbers without leading zeros, or IPv6 without a zone.
  /// Older forms (`0177.1`, `0x7f000001`, `2130706433`) are refused, so that no two readers see two addresses in one
  /// text.
  public init?(_ text: String) {
    // A C string ends at a zero byte, and the text behind it would not be read.
    guard !text.utf8.contains(0) else { return nil }
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      octets = withUnsafeBytes(of: four) { [UInt8]($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      octets = withUnsafeBytes(of: six) { [UInt8]($0) }
    } else {
      return nil
    }
  }

  /// The IPv4 address that packets to this IPv6 address reach: for IPv4-mapped addresses (RFC 4291, 2.5.5.2), and for
  /// NAT64's well-known prefix (RFC 6052, 2.1), by which hosts without IPv4 reach the IPv4 Internet. Nil for others.
  public var embeddedIPv4: NetworkAddress? {
    guard AddressRange.mapped.contains(self) || AddressRange.nat64.contains(self) else { return nil }
    return NetworkAddress(octets: Array(octets.suffix(4)))
  }
}

/// All addresses of one length that begin with the same bits.
public struct AddressRange: Sendable, Hashable {
  let start: [UInt8]
  let bits: Int
  let octetCount: Int

  /// Octets that are not given are zero.
  static func ipv4(_ start: UInt8..., bits: Int) -> AddressRange {
    AddressRange(start: start, bits: bits, octetCount: 4)
  }

  /// The start in 16-bit groups, as in the textual form; groups that are not given are zero.
  static func ipv6(_ start: UInt16..., bits: Int) -> AddressRange {
    AddressRange(start: start.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }, bits: bits, octetCount: 16)
  }

  /// Reads `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one. Nil for other texts, and if bits behind
  /// the prefix are set: a typing mistake would name a network that was not meant.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = NetworkAddress(String(parts[0])) else { return nil }
    let all = address.octets.count * 8
    guard parts.count == 2 else {
      self.init(start: address.octets, bits: all, octetCount: address.octets.count)
      return
    }
    guard let bits = Int(parts[1]), String(bits) == parts[1], (0...all).contains(bits) else { return nil }
    self.init(start: address.octets, bits: bits, octetCount: address.octets.count)
    guard lowest == address.octets else { return nil }
  }

  private init(start: [UInt8], bits: Int, octetCount: Int) {
    self.start = start
    self.bits = bits
    self.octetCount = octetCount
  }

  /// The first address of the range: all bits behind the prefix are zero.
  private var lowest: [UInt8] {
    (0..<octetCount).map { index in
      let fixed = max(0, min(8, bits - index * 8))
      return (index < start.count ? start[index] : 0) & UInt8(truncatingIfNeeded: 0xff00 >> fixed)
    }
  }

  /// Whether the whole range lies in the other.
  func isWithin(_ other: AddressRange) -> Bool {
    bits >= other.bits && NetworkAddress(octets: lowest).map(other.contains) ?? false
  }

  static let mapped = ipv6(0, 0, 0, 0, 0, 0xffff, bits: 96)
  static let nat64 = ipv6(0x64, 0xff9b, bits: 96)

  public func contains(_ address: NetworkAddress) -> Bool {
    guard address.octets.count == octetCount else { return false }
    for index in 0..<((bits + 7) / 8) {
      let fixed = min(8, bits - index * 8)
      let mask = UInt8(truncatingIfNeeded: 0xff00 >> fixed)
      let expected = index < start.count ? start[index] : 0
      if (address.octets[index] ^ expected) & mask != 0 { return false }
    }
    return true
  }
}
