import Base
import HTTP
import Testing

@testable import App

private let second: Int64 = 1_000_000_000

/// Buckets, tables and addresses. Time is an argument.
@Suite struct RateLimiterTests {
  @Test func `a bucket gives its burst at once and then its rate`() {
    let limit = RateLimit(rate: 2, burst: 3)
    var bucket = TokenBucket(full: limit, at: 0)
    #expect([0, 0, 0].map { bucket.take(limit, at: $0) } == [nil, nil, nil])
    #expect(bucket.take(limit, at: 0) == 0.5)
    #expect(bucket.take(limit, at: second / 2) == nil)
    #expect(bucket.take(limit, at: second / 2) == 0.5)
    // A pause fills it up to its burst and no further.
    #expect((0..<4).map { _ in bucket.take(limit, at: 100 * second) == nil } == [true, true, true, false])
    // A clock that is set back removes nothing.
    #expect(bucket.take(limit, at: 0) == 0.5)
  }

  @Test func `wrong credentials cost more, and no more than a burst is owed`() {
    let limiter = RateLimiter(RateLimits(perAddress: RateLimit(rate: 1, burst: 20)))
    let address = ClientAddress("192.0.2.1")
    let caller = RateLimiter.Caller.other(session: nil, address)
    for _ in 0..<2 {
      #expect(limiter.refusal(of: caller, at: 0) == nil)
      limiter.noteFailedAuthentication(from: address, at: 0)
    }
    #expect(limiter.refusal(of: caller, at: 0) == RateLimiter.Refusal(subject: .address, retryAfter: 1))
    for _ in 0..<100 { limiter.noteFailedAuthentication(from: address, at: 0) }
    #expect(limiter.refusal(of: caller, at: 0)?.retryAfter == 21)
    #expect(limiter.refusal(of: caller, at: 21 * second) == nil)
  }

  @Test func `a large body counts as many requests of its address, and none of a key`() {
    let limiter = RateLimiter(
      RateLimits(perKey: RateLimit(rate: 1, burst: 2), perAddress: RateLimit(rate: 1, burst: 20)))
    let stranger = RateLimiter.Caller.other(session: nil, ClientAddress("192.0.2.1"))
    #expect(limiter.refusal(of: stranger, at: 0) == nil)
    limiter.charge(stranger, bytes: Limits.bytesPerRequest - 1, at: 0)
    #expect(limiter.refusal(of: stranger, at: 0) == nil)
    limiter.charge(stranger, bytes: 18 * Limits.bytesPerRequest, at: 0)
    #expect(limiter.refusal(of: stranger, at: 0) == RateLimiter.Refusal(subject: .address, retryAfter: 1))
    let backend = RateLimiter.Caller.key([UInt8](repeating: 1, count: 32))
    limiter.charge(backend, bytes: 18 * Limits.bytesPerRequest, at: 0)
    #expect(limiter.refusal(of: backend, at: 0) == nil)
  }

  @Test func `a large reply and a long handling count as many requests, of a key too`() {
    let limit = RateLimit(rate: 1, burst: 20)
    let limiter = RateLimiter(RateLimits(perKey: limit, perAddress: limit))
    for caller in [
      RateLimiter.Caller.key([UInt8](repeating: 1, count: 32)), .other(session: nil, ClientAddress("192.0.2.1")),
    ] {
      limiter.charge(
        caller, replyBytes: Limits.bytesPerRequest - 1, nanoseconds: Limits.nanosecondsPerRequest - 1, at: 0)
      for _ in 0..<2 { #expect(limiter.refusal(of: caller, at: 0) == nil) }
      limiter.charge(caller, replyBytes: 8 * Limits.bytesPerRequest, nanoseconds: 0, at: 0)
      limiter.charge(caller, replyBytes: 0, nanoseconds: 9 * Limits.nanosecondsPerRequest, at: 0)
      #expect(limiter.refusal(of: caller, at: 0) == nil)
      #expect(limiter.refusal(of: caller, at: 0)?.retryAfter == 1)
    }
  }

  @Test func `keys, sessions and addresses have limits of their own`() {
    let one = RateLimit(rate: 1, burst: 1)
    let limiter = RateLimiter(RateLimits(perKey: one, perSession: one, perAddress: RateLimit(rate: 1, burst: 2)))
    let (a, b) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    #expect(limiter.refusal(of: .key(a), at: 0) == nil)
    #expect(limiter.refusal(of: .key(a), at: 0)?.subject == .key)
    #expect(limiter.refusal(of: .key(b), at: 0) == nil)
    #expect(limiter.refusal(of: .other(session: "s", ClientAddress("192.0.2.1")), at: 0) == nil)
    #expect(limiter.refusal(of: .other(session: "s", ClientAddress("192.0.2.2")), at: 0)?.subject == .session)
    #expect(limiter.refusal(of: .other(session: nil, ClientAddress("192.0.2.1")), at: 0) == nil)
    #expect(limiter.refusal(of: .other(session: nil, ClientAddress("192.0.2.1")), at: 0)?.subject == .address)
    // Without an address, no limit applies.
    for _ in 0..<5 { #expect(limiter.refusal(of: .other(session: nil, nil), at: 0) == nil) }
    limiter.adopt(.none)
    for _ in 0..<5 { #expect(limiter.refusal(of: .key(a), at: 0) == nil) }
  }

  @Test func `a table holds what it has room for, and forgets who asked longest ago`() {
    var table = BucketTable<Int>(limit: RateLimit(rate: 0.001, burst: 1), capacity: 8)
    for name in 0..<8 { #expect(table.take(name, at: Int64(name)) == nil) }
    #expect(table.take(0, at: 10) != nil)
    // One set of eight: the ninth replaces the second, which is now the least recently used.
    #expect(table.take(8, at: 11) == nil)
    #expect(table.take(0, at: 12) != nil)
    #expect(table.take(1, at: 13) == nil)
  }

  @Test func `an IPv6 network is one client, an IPv4 address another`() {
    #expect(ClientAddress("2001:db8::1") == ClientAddress("2001:db8::ffff:1"))
    #expect(ClientAddress("2001:db8::1") != ClientAddress("2001:db8:0:1::1"))
    #expect(ClientAddress("192.0.2.1") != ClientAddress("192.0.2.2"))
    #expect(ClientAddress("::ffff:192.0.2.1") == ClientAddress("192.0.2.1"))
    for text in ["", "localhost", "192.0.2", "192.0.2.1:80", "unknown"] { #expect(ClientAddress(text) == nil) }
  }

  @Test func `a block contains its network and nothing else`() {
    let cases: [(String, String, Bool)] = [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
      ("192.0.2.7", "192.0.2.6", false), ("192.0.2.0/27", "192.0.2.31", true), ("192.0.2.0/27", "192.0.2.32", false),
      ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
      ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false), ("10.0.0.0/8", "unknown", false),
    ]
    for (block, address, isIn) in cases {
      #expect(AddressBlock(block)?.contains(address) == isIn, "\(block) \(address)")
    }
    for text in ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0/8", "::/129", "10.0.0.0/8/8", "proxy"] {
      #expect(AddressBlock(text) == nil, "\(text)")
    }
  }

  // MARK: Proxies

  private static func request(from peer: String, _ headers: [(name: String, value: String)]) -> HTTPRequest {
    HTTPRequest(method: "GET", path: "/", headers: HTTPHeaders(headers), remoteAddress: peer)
  }

  @Test func `only a proxy's last word on its client is believed`() {
    let forwarded = [(name: "X-Forwarded-For", value: "192.0.2.66, 203.0.113.7")]
    let direct = ProxyRule()
    #expect(direct.address(of: Self.request(from: "127.0.0.1", forwarded)) == ClientAddress("127.0.0.1"))
    var proxied = ProxyRule(isBehindProxy: true, trusted: [AddressBlock("10.0.0.0/8")].compactMap(\.self))
    #expect(proxied.address(of: Self.request(from: "127.0.0.1", forwarded)) == ClientAddress("203.0.113.7"))
    #expect(proxied.address(of: Self.request(from: "10.1.1.1", forwarded)) == ClientAddress("203.0.113.7"))
    #expect(proxied.address(of: Self.request(from: "198.51.100.1", forwarded)) == ClientAddress("198.51.100.1"))
    // Two headers are one list.
    let twice = [(name: "x-forwarded-for", value: "203.0.113.7"), (name: "X-Forwarded-For", value: "203.0.113.8")]
    #expect(proxied.address(of: Self.request(from: "::1", twice)) == ClientAddress("203.0.113.8"))
    // The header that the proxy does not set is the client's own.
    #expect(proxied.address(of: Self.request(from: "::1", [("Forwarded", "for=203.0.113.7")])) == nil)
    proxied.header = .forwarded
    #expect(proxied.address(of: Self.request(from: "::1", forwarded)) == nil)
  }

  @Test(arguments: [
    ("203.0.113.7", "203.0.113.7"), ("203.0.113.7:4711", "203.0.113.7"), ("2001:db8::7", "2001:db8::7"),
    ("[2001:db8::7]:443", "2001:db8::7"), (" 203.0.113.7 ", "203.0.113.7"), ("unknown", ""), ("a:b:c", ""),
  ])
  func `an address in X-Forwarded-For`(value: String, address: String) {
    let rule = ProxyRule(isBehindProxy: true)
    let request = Self.request(from: "127.0.0.1", [("X-Forwarded-For", "192.0.2.66," + value)])
    #expect(rule.address(of: request) == ClientAddress(address))
  }

  @Test(arguments: [
    ("for=203.0.113.7", "203.0.113.7"), ("For=\"[2001:db8::7]:4711\";proto=https", "2001:db8::7"),
    ("proto=https; for=203.0.113.7:1234 ; by=192.0.2.1", "203.0.113.7"), ("for=_hidden", ""), ("by=203.0.113.7", ""),
  ])
  func `an address in Forwarded`(value: String, address: String) {
    let rule = ProxyRule(isBehindProxy: true, header: .forwarded)
    let request = Self.request(from: "127.0.0.1", [("Forwarded", "for=192.0.2.66, " + value)])
    #expect(rule.address(of: request) == ClientAddress(address))
  }
}
