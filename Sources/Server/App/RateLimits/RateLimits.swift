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
