import Base

/// Decides to which network addresses a connection may be opened.
///
/// A document names the address of a list. A document that makes us fetch from inside our network could reach hosts
/// that trust that network: cloud metadata, administration pages, databases. A host's name does not say where it leads,
/// and may lead elsewhere a moment later. So the check is made on the very address to which the socket is opened.
public enum AddressGuard {
  /// Why no connection may be opened there; nil if one may.
  public static func refusal(
    of address: NetworkAddress, port: UInt16, isEncrypted: Bool, under rules: FetchRules
  ) -> String? {
    if rules.allowsLoopback, isLoopback(address) { return nil }
    guard isPublic(address) || rules.internalTargets.contains(address) else {
      return "the address leads to no public host"
    }
    guard allows(port, isEncrypted: isEncrypted, under: rules) else { return "the address names a port of its own" }
    return nil
  }

  static func allows(_ port: UInt16, isEncrypted: Bool, under rules: FetchRules) -> Bool {
    port == standardPort(isEncrypted: isEncrypted) || rules.internalTargets.ports.contains(port)
      || (rules.allowsOtherPorts && port >= Limits.lowestListPort)
  }

  public static func standardPort(isEncrypted: Bool) -> UInt16 { isEncrypted ? 443 : 80 }

  /// Whether anybody on the Internet would reach the same host there (IANA special-purpose address registries).
  public static func isPublic(_ address: NetworkAddress) -> Bool {
    if let embedded = address.embeddedIPv4 { return isPublic(embedded) }
    if address.octets.count == 4 { return !reservedIPv4.contains { $0.contains(address) } }
    return globalUnicast.contains(address) && !reservedIPv6.contains { $0.contains(address) }
  }

  public static func isLoopback(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return isLoopback(embedded) }
    return loopbackIPv4.contains(address) || loopbackIPv6.contains(address)
  }

  /// Whether any address of this machine may be connected to.
  static func mayReachThisMachine(under rules: FetchRules) -> Bool {
    rules.allowsLoopback
      || rules.internalTargets.networks.contains { $0.isWithin(loopbackIPv4) || $0.isWithin(loopbackIPv6) }
  }

  private static let loopbackIPv4 = AddressRange.ipv4(127, bits: 8)
  private static let loopbackIPv6 = AddressRange.ipv6(0, 0, 0, 0, 0, 0, 0, 1, bits: 128)

  /// Networks that an organisation uses internally (RFC 1918, RFC 6598, RFC 4193).
  public static let privateNetworks: [AddressRange] = [
    .ipv4(10, bits: 8), .ipv4(172, 16, bits: 12), .ipv4(192, 168, bits: 16), .ipv4(100, 64, bits: 10),
    .ipv6(0xfc00, bits: 7),
  ]

  /// See `InternalTargets`: addresses of the machine itself, of its link, and of its cloud's services.
  static let neverMeant: [AddressRange] = [
    loopbackIPv4, loopbackIPv6, .ipv4(0, bits: 8), .ipv6(0, 0, 0, 0, 0, 0, 0, 0, bits: 128),
    .ipv4(169, 254, bits: 16), .ipv6(0xfe80, bits: 10),  // link-local
    .ipv6(0xfd00, 0xec2, bits: 32), .ipv4(100, 100, 100, 200, bits: 32), .ipv4(192, 0, 0, 192, bits: 32),  // metadata
    .ipv4(168, 63, 129, 16, bits: 32),
    .ipv4(224, bits: 4), .ipv4(240, bits: 4), .ipv6(0xff00, bits: 8),  // to many at once, and reserved
  ]

  private static let reservedIPv4: [AddressRange] = [
    .ipv4(0, bits: 8),  // this network; 0.0.0.0 reaches this host
    .ipv4(10, bits: 8), .ipv4(172, 16, bits: 12), .ipv4(192, 168, bits: 16),  // private
    .ipv4(100, 64, bits: 10),  // carrier-grade NAT
    loopbackIPv4,
    .ipv4(169, 254, bits: 16),  // link-local, where clouds keep their metadata
    .ipv4(192, 0, 0, bits: 24),  // protocol assignments
    .ipv4(192, 0, 2, bits: 24), .ipv4(198, 51, 100, bits: 24), .ipv4(203, 0, 113, bits: 24),  // documentation
    .ipv4(192, 88, 99, bits: 24),  // relays of 6to4
    .ipv4(198, 18, bits: 15),  // benchmarks
    .ipv4(224, bits: 4),  // multicast
    .ipv4(240, bits: 4),  // reserved, broadcast
  ]

  /// All global unicast addresses that have been allocated. Outside this range lie loopback, link-local (fe80::/10),
  /// unique local (fc00::/7), multicast (ff00::/8), the old site-local and IPv4-compatible forms, and NAT64's local
  /// prefix.
  private static let globalUnicast = AddressRange.ipv6(0x2000, bits: 3)

  /// Reserved ranges within `globalUnicast`. All tunnels to IPv4 are refused: no publisher needs them, and they may
  /// lead to private addresses.
  private static let reservedIPv6: [AddressRange] = [
    .ipv6(0x2001, bits: 23),  // protocol assignments: Teredo, benchmarks, ORCHID
    .ipv6(0x2001, 0xdb8, bits: 32), .ipv6(0x3fff, bits: 20),  // documentation
    .ipv6(0x2002, bits: 16),  // 6to4
  ]
}

/// Internal receivers that an operator allows for a configured address, beside public hosts on the standard port. An
/// address out of a document or a certificate never has any.
public struct InternalTargets: Sendable, Hashable {
  /// Ports beside 443.
  public var ports: Set<UInt16>
  public var networks: [AddressRange]

  public static let none = InternalTargets()

  public init(ports: Set<UInt16> = [], networks: [AddressRange] = []) {
    self.ports = ports
    self.networks = networks
  }

  /// Whether one of the networks contains the address. Naming a large network does not include this machine, or the
  /// places where clouds give out their credentials: those need a network that lies wholly within them.
  public func contains(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return contains(embedded) }
    let special = AddressGuard.neverMeant.first { $0.contains(address) }
    return networks.contains { network in
      network.contains(address) && special.map { network.isWithin($0) } ?? true
    }
  }
}
