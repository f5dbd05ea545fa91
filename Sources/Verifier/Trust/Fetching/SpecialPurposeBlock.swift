/// A block of addresses at which there is no public host: a row of IANA's special-purpose address registries, of its
/// multicast registries, or an address at which a cloud gives its machines their credentials.
///
/// The rows follow <https://www.iana.org/assignments/iana-ipv4-special-registry> and
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>, by their RFCs. A row within another is left out
/// unless its use differs. Blocks that IANA calls globally reachable (AS112, AMT, anycast of PCP and TURN) are refused
/// too: nobody publishes lists or takes webhooks there.
struct SpecialPurposeBlock: Sendable {
  enum Use: Sendable {
    /// No host of anybody.
    case reserved
    /// Networks that an organisation uses internally.
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

  /// IPv4-mapped addresses and NAT64's well-known prefix are judged by the IPv4 address in them. All other translations
  /// and tunnels to IPv4 are refused: no publisher needs them, and they may lead to private addresses.
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
