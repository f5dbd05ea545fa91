/// How long a request may wait in a queue, by CoDel's idea (RFC 8289, 3.2): what matters is not how long a queue is, but
/// whether it stands.
///
/// A queue that empties now and then evens out bursts, and a request in it may wait a whole `interval`. One that has not
/// been empty for an interval stands: everybody in it waits, and nobody is handled sooner for it. Then a request waits
/// `target` at most; whatever would wait longer is refused while refusing is all that it costs. Packets can be dropped
/// one by one until their sender slows down; requests come from many, so that all above the bound are refused.
///
/// Times are nanoseconds of the monotonic clock.
struct DelayControl: Sendable {
  let target: Int64
  let interval: Int64
  private var lastEmpty = Int64.min

  init(target: Int64, interval: Int64) {
    self.target = target
    self.interval = max(target, interval)
  }

  mutating func noteEmpty(at now: Int64) { lastEmpty = now }

  func bound(at now: Int64) -> Int64 {
    now - max(lastEmpty, 0) < interval ? interval : target
  }
}
