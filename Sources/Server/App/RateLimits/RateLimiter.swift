import Base
import Cryptography
import HTTP

/// How often a caller may ask: `rate` requests a second on average, and `burst` requests at once after a pause.
struct RateLimit: Sendable, Hashable {
  var rate: Double
  var burst: Double
}

/// The limits of a server; nil means no limit.
struct RateLimits: Sendable, Hashable {
  /// The limit of one API key: a backend's whole traffic.
  var perKey: RateLimit?
  /// The limit of one session, for callers that hold its client secret or know its id: a page or a wallet.
  var perSession: RateLimit?
  /// The limit of one address, for all requests without an API key. Many people may share an address.
  var perAddress: RateLimit?

  /// The limits of a configuration that names none.
  static let standard = RateLimits(
    perKey: RateLimit(rate: 1_000, burst: 2_000), perSession: RateLimit(rate: 5, burst: 20),
    perAddress: RateLimit(rate: 50, burst: 200))
  static let none = RateLimits()

  /// A request with a wrong credential counts as this many, so that guessing is dear.
  static let failedAuthenticationCost = 10.0
}

/// Holds callers to the configured rates. It remembers only a hash or an address of each, as long as there is room.
final class RateLimiter: Sendable {
  /// The kind of limit that was reached: the label of the metric.
  enum Subject: String, Sendable, CaseIterable { case key, session, address }

  struct Refusal: Sendable, Hashable {
    let subject: Subject
    /// Whole seconds until the next try, at least one.
    let retryAfter: Int
  }

  /// A caller, as far as it is known without the store.
  enum Caller: Sendable, Hashable {
    /// A caller with an API key of this server, named by the key's SHA-256. No two relying parties have the same key,
    /// so it names the relying party too.
    case key([UInt8])
    /// Any other caller, named by its session (the client secret or the id) and by its address.
    case other(session: String?, ClientAddress?)
  }

  /// The first 16 bytes of a SHA-256: enough that no two are alike by chance or by design.
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
    keys = Locked(Self.table(limits.perKey, Limits.limitedKeys))
    sessions = Locked(Self.table(limits.perSession, Limits.limitedSessions))
    addresses = Locked(Self.table(limits.perAddress, Limits.limitedAddresses))
  }

  /// Takes other limits from now on. All buckets begin full.
  func adopt(_ limits: RateLimits) {
    keys.withLock { $0 = Self.table(limits.perKey, Limits.limitedKeys) }
    sessions.withLock { $0 = Self.table(limits.perSession, Limits.limitedSessions) }
    addresses.withLock { $0 = Self.table(limits.perAddress, Limits.limitedAddresses) }
  }

  private static func table<Name>(_ limit: RateLimit?, _ capacity: Int) -> BucketTable<Name>? {
    limit.map { BucketTable(limit: $0, capacity: capacity) }
  }

  /// Counts the bytes of a body beside its request, since without an API key anybody can make the server take and read
  /// one.
  func charge(_ caller: Caller, bytes: Int, at now: Int64) {
    guard case .other(_, let address?) = caller, bytes >= Limits.bytesPerRequest else { return }
    addresses.withLock { $0?.charge(address, Double(bytes / Limits.bytesPerRequest), at: now) }
  }

  /// Counts what a request cost beyond what its token pays for: `Limits.bytesPerRequest` of the reply, and
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

  /// Counts a request. Returns a refusal if one of its limits is reached; nil otherwise.
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

  /// Counts a wrong credential from this address.
  func noteFailedAuthentication(from address: ClientAddress?, at now: Int64) {
    guard let address else { return }
    addresses.withLock { $0?.charge(address, RateLimits.failedAuthenticationCost - 1, at: now) }
  }

  private func refusal(_ subject: Subject, _ seconds: Double?) -> Refusal? {
    seconds.map { Refusal(subject: subject, retryAfter: max(1, Int($0.rounded(.up)))) }
  }
}

/// Decides which client a request counts against: the peer, or behind a proxy the client that the proxy names.
///
/// Only the last hop is believed, since the proxy itself wrote it. The hops before it are the client's own word.
struct ProxyRule: Sendable, Hashable {
  /// The header in which the proxy names its client. Only this one is read: a header that the proxy does not set may
  /// come from the client.
  enum Header: String, Sendable, Hashable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  var isBehindProxy = false
  /// Proxies that are believed besides those on loopback.
  var trusted: [AddressBlock] = []
  var header = Header.xForwardedFor

  /// Nil if the proxy names no address. No limit of an address applies then, since all clients would count as one.
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

  /// Reads `192.0.2.43`, `192.0.2.43:47011`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; nil for names and
  /// `unknown`.
  private static func address(in text: Substring) -> ClientAddress? {
    if text.first == "[" { return text.dropFirst().split(separator: "]").first.flatMap { ClientAddress($0) } }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? ClientAddress(parts[0]) : ClientAddress(text)
  }
}
