/// What somebody who configured an address allows for it beside the Internet's hosts on the standard port: receivers
/// inside. Nothing that comes out of a document or a certificate ever has any.
public struct InternalTargets: Sendable, Hashable {
  /// Beside 443.
  public var ports: Set<UInt16>
  public var networks: [AddressRange]

  public static let none = InternalTargets()

  public init(ports: Set<UInt16> = [], networks: [AddressRange] = []) {
    self.ports = ports
    self.networks = networks
  }

  /// Whether one of the networks has the address. What nobody means by a large network, this machine and the places
  /// where clouds give out their credentials, takes a network that has nothing else.
  public func contains(_ address: NetworkAddress) -> Bool {
    if AddressRange.mapped.contains(address), let embedded = address.embeddedIPv4 { return contains(embedded) }
    let special = AddressGuard.neverMeant.first { $0.contains(address) }
    return networks.contains { network in
      network.contains(address) && special.map { network.isWithin($0) } ?? true
    }
  }
}
