/// Durations counted by size, as Prometheus wants them.
struct Histogram: Sendable {
  /// Upper bounds in seconds: a signature is a matter of a tenth of a millisecond, a verification of milliseconds, a
  /// commit of tens, a publisher of seconds.
  static let bounds = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// The last one counts what is above all bounds.
  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  private(set) var sum = 0.0

  var count: Int { counts.reduce(0, +) }

  mutating func add(_ seconds: Double) {
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }
}
