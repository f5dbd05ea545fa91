import Base

/// A whole run: every vector's result, and what it was a run of.
package struct RunReport: Sendable {
  /// The verifier that was asked.
  package let subject: String
  package let suite: String
  package let results: [VectorResult]
  /// Seconds.
  package let duration: Double

  package struct Count: Sendable, Hashable {
    package var passed = 0
    package var failed = 0
    package var skipped = 0
    package var total: Int { passed + failed + skipped }

    package init() {}

    mutating func add(_ outcome: VectorResult.Outcome) {
      switch outcome {
      case .passed: passed += 1
      case .failed: failed += 1
      case .skipped: skipped += 1
      }
    }
  }

  package var count: Count { count(of: results) }

  /// Groups in their order.
  package var groups: [(name: String, count: Count)] {
    Dictionary(grouping: results, by: \.group).sorted { $0.key < $1.key }.map { ($0.key, count(of: $0.value)) }
  }

  package var failures: [VectorResult] { results.filter { $0.problem != nil } }

  /// The cases that were measured, the one that took most memory first.
  package var byMemory: [VectorResult] {
    results.filter { $0.measurement?.peakMemory != nil }
      .sorted { ($0.measurement?.peakMemory ?? 0) > ($1.measurement?.peakMemory ?? 0) }
  }

  /// The cases that were measured, the one that took most processor time first.
  package var byProcessorTime: [VectorResult] {
    results.filter { $0.measurement != nil }
      .sorted { ($0.measurement?.processorSeconds ?? 0) > ($1.measurement?.processorSeconds ?? 0) }
  }

  package var hasPassed: Bool { failures.isEmpty && count.passed > 0 }

  func count(of results: [VectorResult]) -> Count {
    results.reduce(into: Count()) { $0.add($1.outcome) }
  }

  /// Seconds with three digits behind the point.
  static func text(seconds: Double) -> String {
    let milliseconds = Int((max(0, seconds) * 1_000).rounded())
    let digits = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  package var durationText: String { Self.text(seconds: duration) }
}
