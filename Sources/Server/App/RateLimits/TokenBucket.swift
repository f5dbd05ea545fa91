/// A token bucket: it fills at the limit's rate up to its burst, and each request takes a token.
///
/// Times are nanoseconds of a monotonic clock.
struct TokenBucket: Sendable {
  private var tokens: Double
  private var updated: Int64

  init(full limit: RateLimit, at now: Int64) {
    tokens = limit.burst
    updated = now
  }

  /// Takes a token, or says in how many seconds there is one.
  mutating func take(_ limit: RateLimit, at now: Int64) -> Double? {
    refill(limit, at: now)
    guard tokens >= 1 else { return (1 - tokens) / limit.rate }
    tokens -= 1
    return nil
  }

  /// Takes what a request costs beyond its token; the debt is never more than one burst.
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
