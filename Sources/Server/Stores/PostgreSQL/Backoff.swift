/// Pauses between attempts: doubled each time up to two seconds, and never quite the same, so that nodes that lost their
/// database together do not come back together.
struct Backoff {
  private var step = Duration.milliseconds(50)

  mutating func next() -> Duration {
    defer { step = min(step * 2, .seconds(2)) }
    return step * Double.random(in: 0.5...1)
  }
}
