import Testing
import Trust

/// Public addresses, and addresses that only look public.
@Suite struct GuardTests {
  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
    "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.112.255", "223.255.255.255",
    "2000::", "2001:200::1", "2606:4700:4700::1111", "2a00:1450::1", "3ffe:ffff::", "2001:db7:ffff::", "2001:db9::",
    "2003::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
  ])
  func aPublicAddress(_ text: String) throws {
    #expect(AddressGuard.isPublic(try #require(NetworkAddress(text))))
  }

  @Test(arguments: [
    "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
    "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.1",
    "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0",
    "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "100::1", "fc00::1", "fd12::1", "fe80::1",
    "febf::1", "fec0::1", "ff02::1", "ff0e::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1",
    "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2001:db8:ffff::1", "2002:a00:1::1", "2002:808:808::1",
    "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8",
  ])
  func anAddressThatIsNotPublic(_ text: String) throws {
    #expect(!AddressGuard.isPublic(try #require(NetworkAddress(text))))
  }

  /// The rows of both registries, written independently, including rows within others.
  private static let blocks = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/31", "192.0.2.0/24",
    "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "100.100.100.200/32",
    "192.0.0.192/32", "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32",
    "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28",
    "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16",
    "fc00::/7", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128",
    "fd00:a9fe:a9fe::/48",
  ]

  /// The first and the last address of each block, and their neighbours outside, where no other block has them.
  @Test(arguments: blocks)
  func `a block ends where its registry says`(_ block: String) throws {
    let all = try Self.blocks.map { try #require(AddressRange($0)) }
    let parts = block.split(separator: "/")
    let first = try #require(NetworkAddress(String(parts[0]))).octets
    let bits = try #require(Int(parts[1]))
    let last = first.enumerated().map { $1 | UInt8(truncatingIfNeeded: 0xff >> max(0, min(8, bits - $0 * 8))) }
    for octets in [first, last] {
      #expect(!AddressGuard.isPublic(try #require(NetworkAddress(octets: octets))))
      guard octets.count == 4 else { continue }
      // The same host by IPv4-mapped, NAT64, 6to4 and Teredo addresses.
      for prefix: [UInt8] in [
        [UInt8](repeating: 0, count: 10) + [0xff, 0xff], [0, 0x64, 0xff, 0x9b] + [UInt8](repeating: 0, count: 8),
        [0x20, 0x02], [0x20, 0x01, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0],
      ] {
        let teredo = prefix.starts(with: [0x20, 0x01])
        let long = prefix + (teredo ? octets.map { ~$0 } : octets)
        let address = try #require(NetworkAddress(octets: long + [UInt8](repeating: 0, count: 16 - long.count)))
        #expect(!AddressGuard.isPublic(address))
      }
    }
    for (octets, step) in [(first, UInt8.max), (last, 1)] {
      var neighbour = octets
      for index in neighbour.indices.reversed() {
        neighbour[index] &+= step
        if neighbour[index] != (step == 1 ? 0 : 255) { break }
      }
      let address = try #require(NetworkAddress(octets: neighbour))
      let isListed = all.contains { $0.contains(address) } || neighbour.count == 16 && neighbour[0] >> 5 != 1
      #expect(AddressGuard.isPublic(address) == !isListed, "\(neighbour)")
    }
  }

  @Test(arguments: [
    "", "1", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "127.0.0.01", "127.0.0.1.",
    "127.0.0.256", " 127.0.0.1", "127.0.0.1\0", "fe80::1%eth0", "fe80::1%25eth0", "[::1]", ":::1", "::1::", "localhost",
  ])
  func aTextThatIsNoAddress(_ text: String) {
    #expect(NetworkAddress(text) == nil)
  }

  @Test func loopbackIsAllowedInTestModeAloneAndThereOnAnyPort() throws {
    for text in ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"] {
      let address = try #require(NetworkAddress(text))
      for port: UInt16 in [80, 443, 8_443] {
        let allowed = AddressGuard.refusal(
          of: address, port: port, isEncrypted: true, under: FetchRules(allowsLoopback: true))
        #expect(allowed == nil)
        #expect(AddressGuard.refusal(of: address, port: port, isEncrypted: true, under: FetchRules()) != nil)
      }
    }
    for text in ["10.0.0.1", "0.0.0.0", "::", "fe80::1", "64:ff9b::127.0.0.1"] {
      let address = try #require(NetworkAddress(text))
      let refusal = AddressGuard.refusal(
        of: address, port: 443, isEncrypted: true, under: FetchRules(allowsLoopback: true))
      #expect(refusal != nil)
    }
  }

  /// The guard checks the resolved address itself: the name of a revocation list may also lead into the network.
  @Test func noPortMakesAPrivateAddressPublic() throws {
    let rules = FetchRules(allowsPlainHTTP: true, allowsOtherPorts: true)
    for (text, port, isAllowed): (String, UInt16, Bool) in [
      ("8.8.8.8", 5_443, true), ("8.8.8.8", 8_080, true), ("8.8.8.8", 25, false), ("10.0.0.1", 8_080, false),
      ("127.0.0.1", 8_080, false), ("169.254.169.254", 80, false), ("::1", 8_080, false), ("fd00::1", 80, false),
    ] {
      let address = try #require(NetworkAddress(text))
      let refusal = AddressGuard.refusal(of: address, port: port, isEncrypted: false, under: rules)
      #expect((refusal == nil) == isAllowed, "\(text) \(port)")
    }
  }

  /// The addresses that a configured network permits, and addresses that it never includes.
  @Test(arguments: [
    ("10.0.0.0/8", "10.20.0.1", true), ("10.0.0.0/8", "11.0.0.1", true), ("10.0.0.0/8", "192.168.0.1", false),
    ("10.0.0.0/8", "::ffff:10.20.0.1", true), ("10.0.0.0/8", "64:ff9b::10.20.0.1", false),
    ("10.20.0.7", "10.20.0.7", true), ("10.20.0.7", "10.20.0.8", false), ("fd00::/8", "fd12::1", true),
    ("0.0.0.0/0", "10.20.0.1", true), ("0.0.0.0/0", "169.254.169.254", false), ("0.0.0.0/0", "127.0.0.1", false),
    ("0.0.0.0/0", "0.0.0.0", false), ("0.0.0.0/0", "100.100.100.200", false), ("0.0.0.0/0", "::1", false),
    ("::/0", "::1", false), ("::/0", "fe80::1", false), ("::/0", "fd00:ec2::254", false), ("::/0", "10.0.0.1", false),
    ("fd00::/8", "fd00:ec2::254", false), ("fd00:ec2::254", "fd00:ec2::254", true),
    ("169.254.0.0/16", "169.254.169.254", true), ("169.254.169.254", "169.254.169.254", true),
    ("168.0.0.0/5", "169.254.169.254", false), ("127.0.0.0/8", "127.0.0.1", true),
    ("127.0.0.0/8", "::ffff:127.0.0.1", true), ("100.64.0.0/10", "100.100.100.200", false),
    ("168.0.0.0/8", "168.63.129.16", false), ("168.63.129.16", "::ffff:168.63.129.16", true),
    ("fc00::/7", "fd20:ce::254", false), ("fd00::/8", "fd00:a9fe:a9fe::1", false), ("fd00::/8", "fd00:42::42", false),
    ("::/0", "64:ff9b::169.254.169.254", false), ("::/0", "64:ff9b:1::10.0.0.1", false),
    ("::/0", "2002:a9fe:a9fe::1", false), ("::/0", "2001:0:1:1::5601:5601", false),
    ("2000::/3", "2002:a00:1::1", false),
  ])
  func aNetworkThatIsAllowed(_ network: String, _ text: String, _ isAllowed: Bool) throws {
    let address = try #require(NetworkAddress(text))
    let rules = FetchRules(internalTargets: InternalTargets(networks: [try #require(AddressRange(network))]))
    #expect((AddressGuard.refusal(of: address, port: 443, isEncrypted: true, under: rules) == nil) == isAllowed)
    // On no other port, unless that port is allowed too.
    #expect(AddressGuard.refusal(of: address, port: 8_443, isEncrypted: true, under: rules) != nil)
    let ports = rules.with { $0.internalTargets.ports = [8_443] }
    #expect((AddressGuard.refusal(of: address, port: 8_443, isEncrypted: true, under: ports) == nil) == isAllowed)
    #expect(AddressGuard.refusal(of: address, port: 80, isEncrypted: true, under: ports) != nil)
  }

  @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "fd00::1/8", "10/8", "", "/8", "any"])
  func aTextThatIsNoNetwork(_ text: String) { #expect(AddressRange(text) == nil) }

  @Test func aPublicHostIsAskedOnTheStandardPortAlone() throws {
    let address = try #require(NetworkAddress("8.8.8.8"))
    let rules = FetchRules(allowsPlainHTTP: true, allowsLoopback: true)
    for (port, isEncrypted, isAllowed): (UInt16, Bool, Bool) in [
      (443, true, true), (80, false, true), (80, true, false), (443, false, false), (8_443, true, false),
    ] {
      let refusal = AddressGuard.refusal(of: address, port: port, isEncrypted: isEncrypted, under: rules)
      #expect((refusal == nil) == isAllowed)
    }
  }
}
