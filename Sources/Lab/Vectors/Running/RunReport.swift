import Base

/// A whole run: every vector's result, and what it was a run of.
public struct RunReport: Sendable {
  /// The verifier that was asked.
  public let subject: String
  public let suite: String
  public let results: [VectorResult]
  /// Seconds.
  public let duration: Double

  public struct Count: Sendable, Hashable {
    public var passed = 0
    public var failed = 0
    public var skipped = 0
    public var total: Int { passed + failed + skipped }

    public init() {}

    mutating func add(_ outcome: VectorResult.Outcome) {
      switch outcome {
      case .passed: passed += 1
      case .failed: failed += 1
      case .skipped: skipped += 1
      }
    }
  }

  public var count: Count { count(of: results) }

  /// Groups in their order.
  public var groups: [(name: String, count: Count)] {
    Dictionary(grouping: results, by: \.group).sorted { $0.key < $1.key }.map { ($0.key, count(of: $0.value)) }
  }

  public var failures: [VectorResult] { results.filter { $0.problem != nil } }

  /// The cases that were measured, the one that took most memory first.
  public var byMemory: [VectorResult] {
    results.filter { $0.measurement?.peakMemory != nil }
      .sorted { ($0.measurement?.peakMemory ?? 0) > ($1.measurement?.peakMemory ?? 0) }
  }

  /// The cases that were measured, the one that took most processor time first.
  public var byProcessorTime: [VectorResult] {
    results.filter { $0.measurement != nil }
      .sorted { ($0.measurement?.processorSeconds ?? 0) > ($1.measurement?.processorSeconds ?? 0) }
  }

  public var hasPassed: Bool { failures.isEmpty && count.passed > 0 }

  func count(of results: [VectorResult]) -> Count {
    results.reduce(into: Count()) { $0.add($1.outcome) }
  }

  /// Seconds with three digits behind the point.
  static func text(seconds: Double) -> String {
    let milliseconds = Int((max(0, seconds) * 1_000).rounded())
    let digits = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  public var durationText: String { Self.text(seconds: duration) }
}
