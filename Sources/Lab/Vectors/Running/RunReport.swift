import Base
import FoundationEssentials
import Sessions

/// A whole run: the verifier, the suite and every vector's result.
package struct RunReport: Sendable {
  /// The verifier.
  package let subject: String
  /// The verifier's description of itself; nil for our verifier and for a verifier without a description.
  package var description: HarnessDescription?
  package let suite: String
  /// The corpus's version; nil if it has no version.
  package var edition: String?
  /// The suite's `digest`; nil for sets that others published.
  package let digest: String?
  /// The filter on the cases' ids; nil if all cases were run.
  let filter: String?
  /// The start of the run.
  package let date: Timestamp
  package var results: [VectorResult]
  /// Seconds.
  package let duration: Double

  static let program = "mdoc \(ProgramVersion.text)"

  /// The folder's own name: its path on a machine is private.
  var suiteName: String { SuiteFolder(suite).name }

  static var now: Timestamp { Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970.rounded(.down))) }

  package struct Count: Sendable, Hashable {
    package var passed = 0
    package var failed = 0
    /// The number of expected failures.
    package var known = 0
    package var skipped = 0
    package var total: Int { passed + failed + known + skipped }

    package init() {}

    mutating func add(_ outcome: VectorResult.Outcome) {
      switch outcome {
      case .passed: passed += 1
      case .failed: failed += 1
      case .knownFailure: known += 1
      case .skipped: skipped += 1
      }
    }
  }

  package var count: Count { count(of: results) }

  /// The groups, sorted by name.
  package var groups: [(name: String, count: Count)] {
    Dictionary(grouping: results, by: \.group).sorted { $0.key < $1.key }.map { ($0.key, count(of: $0.value)) }
  }

  /// The failures: `must` before `should`, then the worst consequence first.
  package var failures: [VectorResult] { Self.sorted(results.filter { $0.problem != nil }) }

  /// The expected failures in the same order.
  package var knownFailures: [VectorResult] { Self.sorted(results.filter { $0.knownProblem != nil }) }

  private static func sorted(_ results: [VectorResult]) -> [VectorResult] {
    results.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
  }

  /// The measured cases by memory, largest first.
  package var byMemory: [VectorResult] { costliest { $0.peakMemory.map(Double.init) } }

  /// The measured cases by processor time, largest first.
  package var byProcessorTime: [VectorResult] { costliest { $0.processorSeconds } }

  private func costliest(_ cost: (Measurement) -> Double?) -> [VectorResult] {
    results.compactMap { result in result.measurement.flatMap(cost).map { (result: result, cost: $0) } }
      .sorted { $0.cost > $1.cost }.map(\.result)
  }

  package var hasPassed: Bool { failures.isEmpty && count.passed > 0 }

  func count(of results: [VectorResult]) -> Count {
    results.reduce(into: Count()) { $0.add($1.outcome) }
  }

  /// Seconds with three decimals.
  static func text(seconds: Double) -> String { decimal(max(0, seconds), 3) }

  package var durationText: String { Self.text(seconds: duration) }
}

extension RunReport {
  /// The report of a run over a set without a digest.
  package init(
    of subject: String = "mdoc", ofSetAt path: String, filter: String?, date: Timestamp, results: [VectorResult],
    seconds: Double
  ) {
    self.init(
      subject: subject, suite: path, digest: nil, filter: filter, date: date, results: results, duration: seconds)
  }
}

/// The result of one case.
package struct VectorResult: Sendable {
  package enum Outcome: Sendable, Hashable {
    case passed
    /// The text states the expectation and the judgement.
    case failed(String)
    /// A failure that the verifier's maintainer lists.
    case knownFailure(String)
    /// The text is the reason.
    case skipped(String)

    /// The outcome as one word, for reports.
    var name: String {
      switch self {
      case .passed: "passed"
      case .failed: "failed"
      case .knownFailure: "known"
      case .skipped: "skipped"
      }
    }
  }

  package let group: String
  package let summary: CaseSummary
  package var outcome: Outcome
  package let judgement: Judgement?
  package let seconds: Double
  /// The measured cost; nil if the run does not measure.
  package var measurement: Measurement?
  /// The reason why the verifier ended without a verdict; nil if it gave a verdict.
  package var end: VerifierError?

  package init(
    of summary: CaseSummary, in group: String, _ outcome: Outcome, _ judgement: Judgement?, seconds: Double
  ) {
    (self.group, self.summary, self.outcome) = (group, summary, outcome)
    (self.judgement, self.seconds) = (judgement, seconds)
  }

  /// The judgement as text, for the reports.
  package var observed: String {
    guard let judgement else { return problem ?? "not run" }
    return judgement.isAccepted ? "accepted" : CaseSummary.Expectation.refused(judgement.codes ?? []).text
  }

  package var problem: String? { if case .failed(let text) = outcome { text } else { nil } }
  package var knownProblem: String? { if case .knownFailure(let text) = outcome { text } else { nil } }
  package var skipReason: String? { if case .skipped(let text) = outcome { text } else { nil } }
}

extension Measurement {
  /// The exceeded bound; nil if no bound is exceeded.
  var problem: String? {
    if let peakMemory, peakMemory > Limits.verificationMemoryBytes {
      return "took \(peakMemory >> 20) MiB of memory; the limit is \(Limits.verificationMemoryBytes >> 20) MiB"
    }
    if processorSeconds > Double(Limits.verificationSeconds) {
      return "took \(RunReport.text(seconds: processorSeconds)) s; the limit is \(Limits.verificationSeconds) s"
    }
    return nil
  }
}

extension VectorExpectation {
  /// The difference from a judgement; nil if there is no difference. Facts that the verifier does not report are not
  /// compared.
  package func problem(with judgement: Judgement) -> String? {
    let observed = judgement.codes.map { $0.isEmpty ? "no code" : $0.joined(separator: ", ") }
    guard judgement.isAccepted == isAccepted else {
      return isAccepted
        ? "refused with \(observed ?? "no code"), expected acceptance"
        : "accepted, expected refusal with \(codes.joined(separator: ", "))"
    }
    if let found = judgement.codes, Set(found) != Set(codes) || found.first != codes.first {
      return "refused with \(observed ?? ""), expected \(codes.joined(separator: ", "))"
    }
    if let found = judgement.stage, found != stage {
      return "ended at stage \(found.rawValue), expected \(stage.rawValue)"
    }
    if let found = judgement.warnings, let warnings, Set(found) != Set(warnings) {
      return "warnings [\(found.joined(separator: ", "))], expected [\(warnings.joined(separator: ", "))]"
    }
    return nil
  }
}

/// A case from any suite, in the form for reports.
package struct CaseSummary: Sendable, Hashable {
  package enum Expectation: Sendable, Hashable {
    case accepted
    /// Refused with these codes; empty if the suite states no codes.
    case refused([String])
    /// Accepted or refused. If there is an output, it must be correct.
    case either

    package var isAccepted: Bool { self == .accepted }

    package var codes: [String] { if case .refused(let codes) = self { codes } else { [] } }

    /// For the reports.
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
  /// The clause that determines the verdict.
  package var reference: String
  /// Rows of the list of negative cases.
  package var cases: [String] = []
  package var flags: [VectorFlag]
  package var importance: TestVector.Importance = .must
  package var expectation: Expectation
}

extension CaseSummary {
  package init(id: String, description: String, reference: String, flag: VectorFlag, expectation: Expectation) {
    self.init(id: id, description: description, reference: reference, flags: [flag], expectation: expectation)
  }

  init(_ vector: TestVector) {
    let expectation = vector.expectation
    self.init(
      id: vector.id, description: vector.description, reference: vector.reference, cases: vector.cases,
      flags: vector.flags, importance: vector.importance,
      expectation: expectation.isAccepted ? .accepted : .refused(expectation.codes))
  }
}
