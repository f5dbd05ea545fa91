import Base
import Glibc

/// Decides which network addresses may be connected to.
///
/// A document contains the address of a list. The address could direct the server to hosts that trust the server's
/// network: cloud metadata, administration pages, databases. A host name may resolve to a different address a moment
/// later, so the socket's own address is checked.
public enum AddressGuard {
  /// The refusal of an address that is not public.
  public static let notPublic = "the address does not lead to a public host"
  static let wrongPort = "the address has a port that is not allowed"

  /// The reason to refuse a connection to the address; nil if it is allowed.
  public static func refusal(
    of address: NetworkAddress, port: UInt16, isEncrypted: Bool, under rules: FetchRules
  ) -> String? {
    if rules.allowsLoopback, isLoopback(address) { return nil }
    guard isPublic(address) || rules.internalTargets.contains(address) else { return notPublic }
    guard allows(port, isEncrypted: isEncrypted, under: rules) else { return wrongPort }
    return nil
  }

  static func allows(_ port: UInt16, isEncrypted: Bool, under rules: FetchRules) -> Bool {
    port == standardPort(isEncrypted: isEncrypted) || rules.internalTargets.ports.contains(port)
      || (rules.allowsOtherPorts && port >= Limits.lowestListPort)
  }

  public static func standardPort(isEncrypted: Bool) -> UInt16 { isEncrypted ? 443 : 80 }

  /// True if the address leads to the same host from everywhere on the Internet (IANA special-purpose address
  /// registries).
  public static func isPublic(_ address: NetworkAddress) -> Bool {
    if let embedded = address.embeddedIPv4 { return isPublic(embedded) }
    guard address.octets.count == 4 || globalUnicast.contains(address) else { return false }
    return !SpecialPurposeBlock.all.contains { $0.range.contains(address) }
  }

  public static func isLoopback(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return isLoopback(embedded) }
    return loopbackIPv4.contains(address) || loopbackIPv6.contains(address)
  }

  static func mayReachThisMachine(under rules: FetchRules) -> Bool {
    rules.allowsLoopback
      || rules.internalTargets.networks.contains { $0.isWithin(loopbackIPv4) || $0.isWithin(loopbackIPv6) }
  }

  private static let loopbackIPv4 = AddressRange.ipv4(127, bits: 8)
  private static let loopbackIPv6 = AddressRange.ipv6(0, 0, 0, 0, 0, 0, 0, 1, bits: 128)

  /// Networks that an organisation uses internally.
  public static let privateNetworks = SpecialPurposeBlock.all.filter { $0.use == .organisation }.map(\.range)

  /// All allocated global unicast addresses. Outside this range are only special addresses, such as loopback and
  /// link-local.
  private static let globalUnicast = AddressRange.ipv6(0x2000, bits: 3)
}

/// Internal receivers that an operator allows for a configured address, never for an address in a document or a
/// certificate.
public struct InternalTargets: Sendable, Hashable {
  /// Ports beside 443.
  public var ports: Set<UInt16>
  public var networks: [AddressRange]

  public static let none = InternalTargets()

  public init(ports: Set<UInt16> = [], networks: [AddressRange] = []) {
    self.ports = ports
    self.networks = networks
  }

  /// True if one of the networks contains the address. This machine's own addresses, addresses of cloud credentials and
  /// translations to IPv4 count only if the network is wholly within their block.
  public func contains(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return contains(embedded) }
    let special = SpecialPurposeBlock.all.filter { $0.use == .neverMeant && $0.range.contains(address) }
    return networks.contains { network in
      network.contains(address) && special.allSatisfy { network.isWithin($0.range) }
    }
  }
}

/// An IPv4 or IPv6 address.
public struct NetworkAddress: Sendable, Hashable {
  /// 4 or 16, in network order.
  public let octets: [UInt8]

  public init?(octets: [UInt8]) {
    guard octets.count == 4 || octets.count == 16 else { return nil }
    self.octets = octets
  }

  /// Reads only the forms of RFC 3986: four decimal numbers without leading zeros, or IPv6 without a zone. Other
  /// parsers may read older forms as a different address (`0177.1`, `0x7f000001`, `2130706433`).
  public init?(_ text: String) {
    // A C string ends at a zero byte. The text after it would be ignored.
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

  /// The IPv4 address that receives packets for this IPv6 address: for IPv4-mapped addresses (RFC 4291, 2.5.5.2) and
  /// for NAT64's well-known prefix (RFC 6052, 2.1). Nil for others.
  public var embeddedIPv4: NetworkAddress? {
    guard AddressRange.mapped.contains(self) || AddressRange.nat64.contains(self) else { return nil }
    return NetworkAddress(octets: Array(octets.suffix(4)))
  }
}

/// All addresses of one length that begin with the same bits.
public struct AddressRange: Sendable, Hashable {
  /// The first address: all octets, with zeros after the prefix.
  let start: [UInt8]
  let bits: Int

  /// Omitted octets are zero.
  static func ipv4(_ start: UInt8..., bits: Int) -> AddressRange {
    AddressRange(start: start + Array(repeating: 0, count: 4 - start.count), bits: bits)
  }

  /// The start in 16-bit groups, as in the textual form; omitted groups are zero.
  static func ipv6(_ start: UInt16..., bits: Int) -> AddressRange {
    let octets = start.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    return AddressRange(start: octets + Array(repeating: 0, count: 16 - octets.count), bits: bits)
  }

  private init(start: [UInt8], bits: Int) {
    self.start = start
    self.bits = bits
  }

  /// Reads `10.0.0.0/8`, `fd00::/8`, or a single address. Nil for other texts, and if bits after the prefix are set.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = NetworkAddress(String(parts[0])) else { return nil }
    start = address.octets
    bits = parts.count == 2 ? Int(parts[1]) ?? -1 : start.count * 8
    guard parts.count == 1 || String(bits) == parts[1], (0...start.count * 8).contains(bits),
      start.indices.allSatisfy({ start[$0] & ~mask($0) == 0 })
    else { return nil }
  }

  /// The bits of an octet that belong to the prefix.
  private func mask(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: 0xff00 >> max(0, min(8, bits - index * 8))) }

  func isWithin(_ other: AddressRange) -> Bool {
    bits >= other.bits && NetworkAddress(octets: start).map(other.contains) ?? false
  }

  public func contains(_ address: NetworkAddress) -> Bool {
    address.octets.count == start.count && start.indices.allSatisfy { (address.octets[$0] ^ start[$0]) & mask($0) == 0 }
  }

  static let mapped = ipv6(0, 0, 0, 0, 0, 0xffff, bits: 96)
  static let nat64 = ipv6(0x64, 0xff9b, bits: 96)
}

/// A block of addresses without public hosts. It is a row of IANA's special-purpose or multicast address registries, or
/// an address at which a cloud provides credentials to its machines.
///
/// The rows follow <https://www.iana.org/assignments/iana-ipv4-special-registry> and
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>. A row inside another row is omitted unless its use
/// differs. Blocks that IANA calls globally reachable (AS112, AMT, anycast of PCP and TURN) are refused too: no
/// publisher of lists and no receiver of webhooks has such an address.
struct SpecialPurposeBlock: Sendable {
  enum Use: Sendable {
    case reserved
    case organisation
    /// See `InternalTargets`: addresses of the machine itself, of its link and its cloud, and translations to IPv4.
    case neverMeant
  }

  let range: AddressRange
  let use: Use

  private init(_ range: AddressRange, _ use: Use = .reserved) {
    self.range = range
    self.use = use
  }

  static let all = ipv4 + ipv6 + metadata

  private static let ipv4: [Self] = [
    Self(.ipv4(0, bits: 8), .neverMeant),  // this network, RFC 791; 0.0.0.0 reaches this host
    Self(.ipv4(10, bits: 8), .organisation),  // private use, RFC 1918
    Self(.ipv4(100, 64, bits: 10), .organisation),  // shared address space, RFC 6598
    Self(.ipv4(127, bits: 8), .neverMeant),  // loopback, RFC 1122
    Self(.ipv4(169, 254, bits: 16), .neverMeant),  // link-local, RFC 3927; most clouds' metadata
    Self(.ipv4(172, 16, bits: 12), .organisation),  // private use, RFC 1918
    Self(.ipv4(192, 0, 0, bits: 24)),  // protocol assignments, RFC 6890, 7335, 7600, 7723, 8155, 8880
    Self(.ipv4(192, 0, 2, bits: 24)),  // documentation, RFC 5737
    Self(.ipv4(192, 31, 196, bits: 24)),  // AS112, RFC 7535
    Self(.ipv4(192, 52, 193, bits: 24)),  // AMT, RFC 7450
    Self(.ipv4(192, 88, 99, bits: 24)),  // relays of 6to4 and 6a44, RFC 7526, 6751
    Self(.ipv4(192, 168, bits: 16), .organisation),  // private use, RFC 1918
    Self(.ipv4(192, 175, 48, bits: 24)),  // AS112, RFC 7534
    Self(.ipv4(198, 18, bits: 15)),  // benchmarks, RFC 2544
    Self(.ipv4(198, 51, 100, bits: 24)),  // documentation, RFC 5737
    Self(.ipv4(203, 0, 113, bits: 24)),  // documentation, RFC 5737
    Self(.ipv4(224, bits: 4), .neverMeant),  // multicast, RFC 5771
    Self(.ipv4(240, bits: 4), .neverMeant),  // reserved, broadcast, RFC 1112, 8190
  ]

  /// IPv4-mapped addresses and NAT64's well-known prefix are checked by their IPv4 address. All other translations and
  /// tunnels to IPv4 are refused, since they may lead to private addresses.
  private static let ipv6: [Self] = [
    Self(.ipv6(0, 0, 0, 0, 0, 0, 0, 0, bits: 128), .neverMeant),  // unspecified, RFC 4291
    Self(.ipv6(0, 0, 0, 0, 0, 0, 0, 1, bits: 128), .neverMeant),  // loopback, RFC 4291
    Self(.nat64, .neverMeant),  // NAT64, RFC 6052
    Self(.ipv6(0x64, 0xff9b, 1, bits: 48), .neverMeant),  // NAT64 for local use, RFC 8215
    Self(.ipv6(0x100, bits: 64)),  // discard only, RFC 6666
    Self(.ipv6(0x100, 0, 0, 1, bits: 64)),  // dummy prefix, RFC 9780
    // Protocol assignments, RFC 2928: anycast of PCP, TURN and SRP (RFC 7723, 8155, 9665), benchmarks (RFC 5180), AMT
    // (RFC 7450), AS112 (RFC 7535), ORCHID (RFC 4843, 7343), drones (RFC 9374)
    Self(.ipv6(0x2001, bits: 23)),
    Self(.ipv6(0x2001, 0, bits: 32), .neverMeant),  // Teredo, RFC 4380
    Self(.ipv6(0x2001, 0xdb8, bits: 32)),  // documentation, RFC 3849
    Self(.ipv6(0x2002, bits: 16), .neverMeant),  // 6to4, RFC 3056
    Self(.ipv6(0x2620, 0x4f, 0x8000, bits: 48)),  // AS112, RFC 7534
    Self(.ipv6(0x3fff, bits: 20)),  // documentation, RFC 9637
    Self(.ipv6(0x5f00, bits: 16)),  // SRv6 identifiers, RFC 9602
    Self(.ipv6(0xfc00, bits: 7), .organisation),  // unique local, RFC 4193
    Self(.ipv6(0xfe80, bits: 10), .neverMeant),  // link-local, RFC 4291
    Self(.ipv6(0xff00, bits: 8), .neverMeant),  // multicast, RFC 4291
  ]

  /// Metadata services outside link-local addresses, by their providers' manuals.
  private static let metadata: [Self] = [
    Self(.ipv4(168, 63, 129, 16, bits: 32), .neverMeant),  // Azure; the address looks public
    Self(.ipv4(100, 100, 100, 200, bits: 32), .neverMeant),  // Alibaba
    Self(.ipv4(192, 0, 0, 192, bits: 32), .neverMeant),  // Oracle
    Self(.ipv6(0xfd00, 0xec2, bits: 32), .neverMeant),  // AWS
    Self(.ipv6(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254, bits: 128), .neverMeant),  // Google
    Self(.ipv6(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42, bits: 128), .neverMeant),  // Scaleway
    Self(.ipv6(0xfd00, 0xa9fe, 0xa9fe, bits: 48), .neverMeant),  // Akamai
  ]
}
