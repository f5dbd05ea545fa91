import Base
import Cryptography
import HTTP

/// A caller's limit. It allows `rate` requests a second on average, and `burst` requests at once after a pause.
struct RateLimit: Sendable, Hashable {
  var rate: Double
  var burst: Double
}

/// The limits for keys, sessions and addresses; nil means no limit.
struct RateLimits: Sendable, Hashable {
  /// The limit for one API key: a backend's whole traffic.
  var perKey: RateLimit?
  /// The limit for one session. It applies to pages with the session's client secret and to wallets with its id.
  var perSession: RateLimit?
  /// The limit for one address. It applies to all requests without an API key. Many people may share an address.
  var perAddress: RateLimit?

  static let standard = RateLimits(
    perKey: RateLimit(rate: 1_000, burst: 2_000), perSession: RateLimit(rate: 5, burst: 20),
    perAddress: RateLimit(rate: 50, burst: 200))
  static let none = RateLimits()

  /// A request with a wrong credential counts as this many requests, so that guessing is slow.
  static let failedAuthenticationCost = 10.0
}

/// Enforces the configured rates. Stores only a hash or an address of each caller, in bounded memory.
final class RateLimiter: Sendable {
  /// The kind of limit that was reached; also the metric's label.
  enum Subject: String, Sendable, CaseIterable { case key, session, address }

  struct Refusal: Sendable, Hashable {
    let subject: Subject
    /// Whole seconds until the caller may retry; at least 1.
    let retryAfter: Int
  }

  /// A caller, identified without the store.
  enum Caller: Sendable, Hashable {
    /// The SHA-256 of an API key of this server. Relying parties never share a key.
    case key([UInt8])
    /// The session and address of any other caller. The session is the client secret or the id.
    case other(session: String?, ClientAddress?)
  }

  /// The first 16 bytes of a SHA-256 hash. They suffice to prevent accidental and deliberate collisions.
  private struct Digest: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(_ sha256: [UInt8]) {
      high = sha256.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      low = sha256.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  private let keys: Locked<BucketTable<Digest>?>
  private let sessions: Locked<BucketTable<Digest>?>
  private let addresses: Locked<BucketTable<ClientAddress>?>

  init(_ limits: RateLimits) {
    (keys, sessions, addresses) = (Locked(nil), Locked(nil), Locked(nil))
    adopt(limits)
  }

  /// Replaces the limits. All buckets start full.
  func adopt(_ limits: RateLimits) {
    keys.withLock { $0 = Self.table(limits.perKey, Limits.limitedKeys) }
    sessions.withLock { $0 = Self.table(limits.perSession, Limits.limitedSessions) }
    addresses.withLock { $0 = Self.table(limits.perAddress, Limits.limitedAddresses) }
  }

  private static func table<Name>(_ limit: RateLimit?, _ capacity: Int) -> BucketTable<Name>? {
    limit.map { BucketTable(limit: $0, capacity: capacity) }
  }

  /// Counts a body's bytes in addition to its request. Anyone can send a body, even without an API key.
  func charge(_ caller: Caller, bytes: Int, at now: Int64) {
    guard case .other(_, let address?) = caller, bytes >= Limits.bytesPerRequest else { return }
    addresses.withLock { $0?.charge(address, Double(bytes / Limits.bytesPerRequest), at: now) }
  }

  /// Counts a request's cost beyond one token. A token covers `Limits.bytesPerRequest` of reply and
  /// `Limits.nanosecondsPerRequest` of handling.
  func charge(_ caller: Caller, replyBytes: Int, nanoseconds: Int64, at now: Int64) {
    let cost = replyBytes / Limits.bytesPerRequest + Int(nanoseconds / Limits.nanosecondsPerRequest)
    guard cost > 0 else { return }
    switch caller {
    case .key(let sha256): keys.withLock { $0?.charge(Digest(sha256), Double(cost), at: now) }
    case .other(_, let address?): addresses.withLock { $0?.charge(address, Double(cost), at: now) }
    case .other(_, nil): break
    }
  }

  /// Counts a request. Returns a refusal if the caller has reached one of its limits; nil otherwise.
  func refusal(of caller: Caller, at now: Int64) -> Refusal? {
    switch caller {
    case .key(let sha256):
      return refusal(.key, keys.withLock { $0?.take(Digest(sha256), at: now) })
    case .other(let session, let address):
      if let address, let refused = refusal(.address, addresses.withLock({ $0?.take(address, at: now) })) {
        return refused
      }
      guard let session else { return nil }
      let digest = Digest(HashAlgorithm.sha256.hash(Array(session.utf8)))
      return refusal(.session, sessions.withLock { $0?.take(digest, at: now) })
    }
  }

  func noteFailedAuthentication(from address: ClientAddress?, at now: Int64) {
    guard let address else { return }
    addresses.withLock { $0?.charge(address, RateLimits.failedAuthenticationCost - 1, at: now) }
  }

  private func refusal(_ subject: Subject, _ seconds: Double?) -> Refusal? {
    seconds.map { Refusal(subject: subject, retryAfter: max(1, Int($0.rounded(.up)))) }
  }
}

/// Finds the client of a request: the peer, or the last hop that a trusted proxy states. The client may have invented
/// earlier hops.
struct ProxyRule: Sendable, Hashable {
  /// The header in which the proxy states its client. All other headers may come from the client.
  enum Header: String, Sendable, Hashable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  var isBehindProxy = false
  /// Trusted proxies that are not on loopback.
  var trusted: [AddressBlock] = []
  var header = Header.xForwardedFor

  /// The client's address; nil if the proxy states none. Without an address, no limit per address applies, because all
  /// clients would count as one.
  func address(of request: HTTPRequest) -> ClientAddress? {
    let peer = request.remoteAddress
    guard isBehindProxy, ListenAddress.isLoopback(peer) || trusted.contains(where: { $0.contains(peer) }) else {
      return ClientAddress(peer)
    }
    guard let hop = request.headers.values(header.rawValue).last?.split(separator: ",").last else { return nil }
    return switch header {
    case .xForwardedFor: Self.address(in: hop.withoutBlanks)
    case .forwarded: Self.node(of: hop).flatMap(Self.address)
    }
  }

  /// The value of `for` in one element of `Forwarded` (RFC 7239, 4).
  private static func node(of element: Substring) -> Substring? {
    for pair in element.split(separator: ";") {
      let sides = pair.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].withoutBlanks.lowercased() == "for" else { continue }
      let value = sides[1].withoutBlanks
      return value.count > 1 && value.first == "\"" && value.last == "\"" ? value.dropFirst().dropLast() : value
    }
    return nil
  }

  /// Reads `192.0.2.43`, `192.0.2.43:47011`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; nil for names.
  private static func address(in text: Substring) -> ClientAddress? {
    if text.first == "[" { return text.dropFirst().split(separator: "]").first.flatMap { ClientAddress($0) } }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? ClientAddress(parts[0]) : ClientAddress(text)
  }
}

/// Token buckets by name, in sets of eight. A full set drops its least recently used bucket, so memory never grows.
///
/// A name whose bucket was dropped starts again with a full bucket. To force this, a caller needs eight other names in
/// the same set. It cannot choose them: a random seed decides the set of a name.
struct BucketTable<Name: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var name: Name
    var bucket: TokenBucket
    var used: Int64
  }

  private static var ways: Int { 8 }

  private var entries: [Entry?]
  private let limit: RateLimit

  /// - Parameter capacity: the number of buckets, rounded up to whole sets.
  init(limit: RateLimit, capacity: Int) {
    self.limit = limit
    let sets = max(1, (capacity + Self.ways - 1) / Self.ways)
    entries = Array(repeating: nil, count: sets * Self.ways)
  }

  /// Takes a token from the name's bucket. Returns nil on success, or the seconds until a token is available.
  mutating func take(_ name: Name, at now: Int64) -> Double? {
    let index = index(of: name, at: now)
    return entries[index]?.bucket.take(limit, at: now)
  }

  mutating func charge(_ name: Name, _ cost: Double, at now: Int64) {
    let index = index(of: name, at: now)
    entries[index]?.bucket.charge(cost, limit, at: now)
  }

  /// Returns the index of the name's bucket. Makes the bucket if it does not exist.
  private mutating func index(of name: Name, at now: Int64) -> Int {
    let sets = entries.count / Self.ways
    // All bits of the hash are practically random.
    let start = Int(name.hashValue.magnitude % UInt(sets)) * Self.ways
    var oldest = start
    for index in start..<start + Self.ways {
      if entries[index]?.name == name {
        entries[index]?.used = now
        return index
      }
      if (entries[index]?.used ?? .min) < (entries[oldest]?.used ?? .min) { oldest = index }
    }
    entries[oldest] = Entry(name: name, bucket: TokenBucket(full: limit, at: now), used: now)
    return oldest
  }
}

/// A token bucket. It fills at the limit's rate, up to the limit's burst. Times are nanoseconds of a monotonic clock.
struct TokenBucket: Sendable {
  private var tokens: Double
  private var updated: Int64

  init(full limit: RateLimit, at now: Int64) {
    tokens = limit.burst
    updated = now
  }

  /// Takes a token. Returns nil on success, or the seconds until a token is available.
  mutating func take(_ limit: RateLimit, at now: Int64) -> Double? {
    refill(limit, at: now)
    guard tokens >= 1 else { return (1 - tokens) / limit.rate }
    tokens -= 1
    return nil
  }

  /// Charges the cost of a request beyond its one token. The debt never exceeds one burst.
  mutating func charge(_ cost: Double, _ limit: RateLimit, at now: Int64) {
    refill(limit, at: now)
    tokens = max(tokens - cost, -limit.burst)
  }

  private mutating func refill(_ limit: RateLimit, at now: Int64) {
    let seconds = Double(max(0, now - updated)) / 1e9
    tokens = min(limit.burst, tokens + seconds * limit.rate)
    updated = max(updated, now)
  }
}
