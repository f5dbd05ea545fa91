/// Token buckets by name, in memory that never grows. A name has its place in one of many sets of eight. If its set is
/// full, the bucket that was used longest ago is dropped.
///
/// A name that was dropped begins anew with a full bucket. To escape a limit in this way a caller needs eight other
/// names of the same set. The set depends on the hashing's seed, which each process draws anew.
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

  /// Takes a token from the name's bucket. Returns nil, or the seconds until there is a token.
  mutating func take(_ name: Name, at now: Int64) -> Double? {
    let place = place(of: name, at: now)
    return entries[place]?.bucket.take(limit, at: now)
  }

  mutating func charge(_ name: Name, _ cost: Double, at now: Int64) {
    let place = place(of: name, at: now)
    entries[place]?.bucket.charge(cost, limit, at: now)
  }

  /// The index of the name's bucket. It is made if there is none.
  private mutating func place(of name: Name, at now: Int64) -> Int {
    let sets = entries.count / Self.ways
    // Any remainder of the hash will do: all its bits are as good as random.
    let start = Int(name.hashValue.magnitude % UInt(sets)) * Self.ways
    var oldest = start
    for place in start..<start + Self.ways {
      if entries[place]?.name == name {
        entries[place]?.used = now
        return place
      }
      if (entries[place]?.used ?? .min) < (entries[oldest]?.used ?? .min) { oldest = place }
    }
    entries[oldest] = Entry(name: name, bucket: TokenBucket(full: limit, at: now), used: now)
    return oldest
  }
}

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

  /// Takes a token. Returns nil, or the seconds until there is one.
  mutating func take(_ limit: RateLimit, at now: Int64) -> Double? {
    refill(limit, at: now)
    guard tokens >= 1 else { return (1 - tokens) / limit.rate }
    tokens -= 1
    return nil
  }

  /// Takes what a request costs beyond its token. The debt is never more than one burst.
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
