import Primitives

/// The counts behind `/metrics`. Labels come from closed sets alone: route templates, methods, statuses, codes.
final class Metrics: Sendable {
  struct RequestLabels: Hashable, Sendable {
    let method: String
    let route: String
    let status: Int
  }

  struct VerificationLabels: Hashable, Sendable {
    let outcome: Answer.Verification
    /// Of a failed one, the first failed check.
    let code: Code?
  }

  /// Durations of one route's requests.
  struct Histogram: Sendable {
    /// Upper bounds in seconds: a verification is a matter of milliseconds, a commit of tens.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
    /// The last one counts what is above all bounds.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0

    var count: Int { counts.reduce(0, +) }

    mutating func add(_ seconds: Double) {
      counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
      sum += seconds
    }
  }

  struct Snapshot: Sendable {
    var requests: [RequestLabels: Int] = [:]
    var durations: [String: Histogram] = [:]
    var verifications: [VerificationLabels: Int] = [:]
    var inFlight = 0
  }

  private let state = Locked(Snapshot())
  private let start = ContinuousClock.now

  var snapshot: Snapshot { state.withLock { $0 } }

  var uptimeSeconds: Double { (ContinuousClock.now - start) / .seconds(1) }

  func began() {
    state.withLock { $0.inFlight += 1 }
  }

  func ended(_ record: RequestRecord) {
    state.withLock { state in
      state.inFlight -= 1
      Self.count(record, in: &state)
      state.durations[record.route, default: Histogram()].add(record.seconds)
      guard let outcome = record.verification else { return }
      state.verifications[VerificationLabels(outcome: outcome, code: record.code), default: 0] += 1
    }
  }

  /// A request that was turned away before it began.
  func refused(_ record: RequestRecord) {
    state.withLock { Self.count(record, in: &$0) }
  }

  private static func count(_ record: RequestRecord, in state: inout Snapshot) {
    let labels = RequestLabels(method: record.method, route: record.route, status: record.status)
    state.requests[labels, default: 0] += 1
  }
}
