import Testing
import Trust

/// Which addresses are the Internet's, and which only look so.
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
