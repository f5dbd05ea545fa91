import Base
import Cryptography
import HTTP

/// How often somebody may ask: so many requests a second on the average, and so many at once after a pause.
struct RateLimit: Sendable, Hashable {
  var rate: Double
  var burst: Double
}

/// The limits of a server; what has none is not limited.
struct RateLimits: Sendable, Hashable {
  /// Of one API key: a backend's whole traffic.
  var perKey: RateLimit?
  /// Of one session by those who hold its client secret or know its id: a page or a wallet.
  var perSession: RateLimit?
  /// Of one address, for everything that does not come with an API key. Many people may share an address.
  var perAddress: RateLimit?

  /// What a configuration that says nothing has.
  static let standard = RateLimits(
    perKey: RateLimit(rate: 1_000, burst: 2_000), perSession: RateLimit(rate: 5, burst: 20),
    perAddress: RateLimit(rate: 50, burst: 200))
  static let none = RateLimits()

  /// Requests that one with a wrong credential counts as: guessing is dear.
  static let failedAuthenticationCost = 10.0
}

/// Holds callers to the configured rates. It remembers of them no more than a hash or an address, for as long as there
/// is room.
final class RateLimiter: Sendable {
  /// Whose limit was reached: the label of the metric.
  enum Subject: String, Sendable, CaseIterable { case key, session, address }

  struct Refusal: Sendable, Hashable {
    let subject: Subject
    /// Whole seconds, at least one.
    let retryAfter: Int
  }

  /// Who asks, as far as it is known before anything is looked up in the store.
  enum Caller: Sendable, Hashable {
    /// Somebody with an API key of this server, by the key's SHA-256. No two relying parties have the same key, so that
    /// it names both.
    case key([UInt8])
    /// Anybody else: the session that it is about, by its secret or its id, and the address that it comes from.
    case other(session: String?, ClientAddress?)
  }

  /// The first bytes of a SHA-256: enough that no two are alike by chance or by design.
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

  /// Other limits from now on; everybody begins anew.
  func adopt(_ limits: RateLimits) {
    keys.withLock { $0 = Self.table(limits.perKey, Limits.limitedKeys) }
    sessions.withLock { $0 = Self.table(limits.perSession, Limits.limitedSessions) }
    addresses.withLock { $0 = Self.table(limits.perAddress, Limits.limitedAddresses) }
  }

  private static func table<Name>(_ limit: RateLimit?, _ capacity: Int) -> BucketTable<Name>? {
    limit.map { BucketTable(limit: $0, capacity: capacity) }
  }

  /// Counts the bytes of a body, beside its request: to take and read one is work for whoever likes.
  func charge(_ caller: Caller, bytes: Int, at now: Int64) {
    guard case .other(_, let address?) = caller, bytes >= Limits.bytesPerRequest else { return }
    addresses.withLock { $0?.charge(address, Double(bytes / Limits.bytesPerRequest), at: now) }
  }

  /// Counts a request; a refusal where one of its limits is reached.
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

  /// A credential from this address was wrong.
  func noteFailedAuthentication(from address: ClientAddress?, at now: Int64) {
    guard let address else { return }
    addresses.withLock { $0?.charge(address, RateLimits.failedAuthenticationCost - 1, at: now) }
  }

  private func refusal(_ subject: Subject, _ seconds: Double?) -> Refusal? {
    seconds.map { Refusal(subject: subject, retryAfter: max(1, Int($0.rounded(.up)))) }
  }
}

/// Which client a request counts against: the peer, or behind a proxy whoever the proxy says.
///
/// Only the last hop is believed, which the proxy itself wrote; what comes before it is the client's own word.
struct ProxyRule: Sendable, Hashable {
  /// The header by which the proxy names its client. One that it does not set may come from the client, so that only
  /// this one is read.
  enum Header: String, Sendable, Hashable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  var isBehindProxy = false
  /// Beside loopback.
  var trusted: [AddressBlock] = []
  var header = Header.xForwardedFor

  /// Nil where the proxy does not say: all clients would count as one.
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

  /// `192.0.2.43`, `192.0.2.43:47011`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`; nil for names and `unknown`.
  private static func address(in text: Substring) -> ClientAddress? {
    if text.first == "[" { return text.dropFirst().split(separator: "]").first.flatMap { ClientAddress($0) } }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? ClientAddress(parts[0]) : ClientAddress(text)
  }
}
