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
    guard address.octets.count == 4 || globalUnicast.contains(address) else { return false }
    return !SpecialPurposeBlock.all.contains { $0.range.contains(address) }
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

  /// Networks that an organisation uses internally.
  public static let privateNetworks = SpecialPurposeBlock.all.filter { $0.use == .organisation }.map(\.range)

  /// All global unicast addresses that have been allocated. Outside this range lie only special ones: loopback,
  /// link-local, unique local, multicast, the old site-local and IPv4-compatible forms.
  private static let globalUnicast = AddressRange.ipv6(0x2000, bits: 3)
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

  /// Whether one of the networks contains the address. Naming a large network does not include this machine, the
  /// places where clouds give out their credentials, or translations to IPv4: those need a network that lies wholly
  /// within them.
  public func contains(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return contains(embedded) }
    let special = SpecialPurposeBlock.all.filter { $0.use == .neverMeant && $0.range.contains(address) }
    return networks.contains { network in
      network.contains(address) && special.allSatisfy { network.isWithin($0.range) }
    }
  }
}
