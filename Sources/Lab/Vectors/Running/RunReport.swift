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

/// One case's run.
package struct VectorResult: Sendable {
  package enum Outcome: Sendable, Hashable {
    case passed
    /// What was expected and what came.
    case failed(String)
    /// Why it was not run.
    case skipped(String)
  }

  package let group: String
  package let summary: CaseSummary
  package let outcome: Outcome
  package let judgement: Judgement?
  /// Seconds.
  package let duration: Double
  /// Where the run measures.
  package var measurement: Measurement?

  /// What came: for the reports' readers.
  package var observed: String {
    guard let judgement else { return problem ?? "not run" }
    let codes = judgement.codes ?? []
    if judgement.isAccepted { return "accepted" }
    return codes.isEmpty ? "refused" : "refused with \(codes.joined(separator: ", "))"
  }

  package var problem: String? { if case .failed(let text) = outcome { text } else { nil } }
  package var skipReason: String? { if case .skipped(let text) = outcome { text } else { nil } }
}

extension Measurement {
  /// Which bound was exceeded, or nil.
  var problem: String? {
    if let peakMemory, peakMemory > Limits.verificationMemoryBytes {
      return "took \(peakMemory >> 20) MiB of memory, of which \(Limits.verificationMemoryBytes >> 20) are allowed"
    }
    if processorSeconds > Double(Limits.verificationSeconds) {
      return "took \(RunReport.text(seconds: processorSeconds)) s, of which \(Limits.verificationSeconds) are allowed"
    }
    return nil
  }
}

extension VectorExpectation {
  /// What is wrong with a judgement, or nil. What another verifier does not say is not held against it.
  func problem(with judgement: Judgement) -> String? {
    let observed = judgement.codes.map { $0.isEmpty ? "no code" : $0.joined(separator: ", ") }
    guard judgement.isAccepted == isAccepted else {
      return isAccepted
        ? "refused with \(observed ?? "no code") and should be accepted"
        : "accepted and should be refused with \(codes.joined(separator: ", "))"
    }
    if let found = judgement.codes, Set(found) != Set(codes) || found.first != codes.first {
      return "refused with \(observed ?? "") and should be with \(codes.joined(separator: ", "))"
    }
    if let found = judgement.stage, found != stage {
      return "ended at \(found.rawValue) and should at \(stage.rawValue)"
    }
    if let found = judgement.warnings, let warnings, Set(found) != Set(warnings) {
      return "warned of [\(found.joined(separator: ", "))] and should of [\(warnings.joined(separator: ", "))]"
    }
    return nil
  }
}

/// What a report says of a case, whichever suite it is from.
package struct CaseSummary: Sendable, Hashable {
  /// How a case is to end.
  package enum Expectation: Sendable, Hashable {
    case accepted
    /// With these codes, where the suite says which.
    case refused([String])
    /// Either way will do, as long as what comes is right.
    case either

    package var isAccepted: Bool { self == .accepted }

    package var codes: [String] { if case .refused(let codes) = self { codes } else { [] } }

    /// For the reports' readers.
    package var text: String {
      switch self {
      case .accepted: "accepted"
      case .either: "accepted or refused"
      case .refused(let codes): codes.isEmpty ? "refused" : "refused with \(codes.joined(separator: ", "))"
      }
    }
  }

  package var id: String
  package var description: String
  /// The clause that decides it.
  package var reference: String
  /// Rows of the list of negative cases.
  package var cases: [String] = []
  package var flags: [VectorFlag]
  package var importance: TestVector.Importance = .must
  package var expectation: Expectation
}

extension CaseSummary {
  init(_ vector: TestVector) {
    let expectation = vector.expectation
    self.init(
      id: vector.id, description: vector.description, reference: vector.reference, cases: vector.cases,
      flags: vector.flags, importance: vector.importance,
      expectation: expectation.isAccepted ? .accepted : .refused(expectation.codes))
  }
}
