import Glibc

/// The number of executions by outcome: the end of a run's log shows whether inputs are accepted or fail at the first
/// byte.
public enum Tally {
  /// libFuzzer calls on one thread.
  nonisolated(unsafe) private static var counts: [String: Int] = [:]

  public static func count(_ outcome: String) {
    if counts.isEmpty { atexit { Tally.show() } }
    counts[outcome, default: 0] += 1
  }

  private static func show() {
    for (outcome, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      Driver.say("outcome \(outcome): \(count)")
    }
  }
}
