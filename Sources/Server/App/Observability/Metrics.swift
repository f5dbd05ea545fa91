import Base
import HTTP
import Longfellow
import Mdoc
import Sessions

/// The counters behind `/metrics`. Labels come from closed sets: route templates, methods, statuses, codes.
final class Metrics: Sendable {
  struct RequestLabels: Hashable, Sendable {
    let method: String
    let route: String
    let status: Int
  }

  struct VerificationLabels: Hashable, Sendable {
    let outcome: Reply.Verification
    /// The first failed check of a failed response, or the code of a cancellation; nil if the response was verified.
    let code: Code?
  }

  struct StoreUse: Sendable {
    var durations = Histogram()
    var failures = 0
  }

  struct ProofUse: Sendable {
    var verified = 0
    var refused = 0
    var durations = Histogram()
  }

  struct Snapshot: Sendable {
    var requests: [RequestLabels: Int] = [:]
    var durations: [String: Histogram] = [:]
    var queueWait = Histogram()
    var verifications: [VerificationLabels: Int] = [:]
    var stages: [VerificationStage: Histogram] = [:]
    var proofs: [KnownCircuit: ProofUse] = [:]
    var store: [String: StoreUse] = [:]
    var shed: [Overload: Int] = [:]
    var limited: [RateLimiter.Subject: Int] = [:]
    var failedAuthentications = 0
    var refusals: [Code: Int] = [:]
    var activity = Activity()
    var inFlight = 0
  }

  private let state = Locked(Snapshot())
  private let start = ContinuousClock.now

  var snapshot: Snapshot { state.withLock { $0 } }
  var uptimeSeconds: Double { (ContinuousClock.now - start) / .seconds(1) }
  var minute: Int { Int(uptimeSeconds) / 60 }

  /// - Parameter waited: the request's time in the queue, in seconds.
  func began(waited: Double) {
    state.withLock { state in
      state.inFlight += 1
      state.queueWait.add(waited)
    }
  }

  func ended(_ record: RequestRecord) {
    let minute = minute
    state.withLock { state in
      state.inFlight -= 1
      Self.count(record, in: &state)
      state.durations[record.route, default: Histogram()].add(record.seconds)
      // This code means that the service has reached its limit of concurrent verifications.
      if record.code == .apiOverloaded, !record.isEssential { state.shed[.full, default: 0] += 1 }
      if record.isCreation { state.activity.note(minute: minute) { $0.created += 1 } }
      guard let outcome = record.verification else { return }
      state.activity.note(minute: minute) { minute in
        switch outcome {
        case .verified: minute.verified += 1
        case .failed: minute.failed += 1
        case .canceled: minute.canceled += 1
        }
      }
      state.verifications[VerificationLabels(outcome: outcome, code: record.code), default: 0] += 1
    }
  }

  func refused(_ record: RequestRecord, _ error: HTTPError? = nil) {
    state.withLock { state in
      Self.count(record, in: &state)
      if case .overloaded(let overload, _)? = error { state.shed[overload, default: 0] += 1 }
    }
  }

  func limited(_ subject: RateLimiter.Subject) { state.withLock { $0.limited[subject, default: 0] += 1 } }

  func finished(_ stage: VerificationStage, seconds: Double) {
    state.withLock { $0.stages[stage, default: Histogram()].add(seconds) }
  }

  func verified(_ proof: ProofRun) {
    state.withLock { state in
      state.proofs[proof.circuit, default: ProofUse()].durations.add(proof.seconds)
      state.proofs[proof.circuit]?[keyPath: proof.isProven ? \ProofUse.verified : \ProofUse.refused] += 1
    }
  }

  func used(_ operation: StaticString, seconds: Double, failed: Bool) {
    let operation = "\(operation)"
    state.withLock { state in
      state.store[operation, default: StoreUse()].durations.add(seconds)
      if failed { state.store[operation, default: StoreUse()].failures += 1 }
    }
  }

  private static func count(_ record: RequestRecord, in state: inout Snapshot) {
    let labels = RequestLabels(method: record.method, route: record.route, status: record.status)
    state.requests[labels, default: 0] += 1
    if record.code == .apiUnauthenticated { state.failedAuthentications += 1 }
    if record.isRefused, let code = record.code { state.refusals[code, default: 0] += 1 }
  }
}

/// Measures how long the store's operations take, and wakes requests that wait for a session's end.
struct StoreWatch: StoreObserver {
  let metrics: Metrics
  let waits: SessionWaits

  func used(_ operation: StaticString, seconds: Double, failed: Bool) {
    metrics.used(operation, seconds: seconds, failed: failed)
  }

  func ended(_ session: SessionID) { waits.wake(session) }
}

/// A histogram of durations, for Prometheus.
struct Histogram: Sendable {
  /// Upper bounds in seconds. They suit signatures (0.1 ms), verifications, commits and fetches from publishers.
  static let bounds = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// One count for each bound, and a last one for durations above all bounds.
  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  private(set) var sum = 0.0

  var count: Int { counts.reduce(0, +) }

  mutating func add(_ seconds: Double) {
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }
}

/// Counts for each of the last sixty minutes, for `/status`.
struct Activity: Sendable {
  struct Minute: Sendable, Hashable {
    var created = 0
    var verified = 0
    var failed = 0
    var canceled = 0

    var ended: Int { verified + failed + canceled }
  }

  static let length = 60

  /// Minute `n` of the server's uptime has the index `n % length`.
  private var minutes = [Minute](repeating: Minute(), count: length)
  private var newest = 0

  mutating func note(minute: Int, _ change: (inout Minute) -> Void) {
    forget(before: minute)
    change(&minutes[minute % Self.length])
  }

  func last(at minute: Int) -> [Minute] {
    var seen = self
    seen.forget(before: minute)
    return (1...Self.length).map { seen.minutes[(minute + $0) % Self.length] }
  }

  /// Clears minutes that are older than an hour.
  private mutating func forget(before minute: Int) {
    guard minute > newest else { return }
    for passed in max(newest + 1, minute - Self.length + 1)...minute { minutes[passed % Self.length] = Minute() }
    newest = minute
  }
}
