import Testing

@testable import HTTP

/// How many connections one client has.
@Suite struct ConnectionCountTests {
  @Test(arguments: [
    ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"), ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
  ])
  func `addresses of one IPv6 network are one client, and an IPv4 address is one`(
    first: String, same: String, other: String
  ) {
    let counts = ConnectionCounts(limit: 2)
    counts.opened(ClientAddress(first))
    #expect(counts.mayAccept(ClientAddress(same)))
    counts.opened(ClientAddress(same))
    #expect(!counts.mayAccept(ClientAddress(first)) && !counts.mayAccept(ClientAddress(same)))
    #expect(counts.mayAccept(ClientAddress(other)))
    counts.closed(ClientAddress(first))
    #expect(counts.mayAccept(ClientAddress(same)))
  }

  @Test func `without a limit nobody is counted`() {
    let counts = ConnectionCounts(limit: 0)
    for _ in 0..<1_000 { counts.opened(ClientAddress("192.0.2.1")) }
    #expect(counts.mayAccept(ClientAddress("192.0.2.1")))
  }
}
