import Base
import FoundationEssentials

/// A whole run: every vector's result, the verifier and the suite.
package struct RunReport: Sendable {
  /// The verifier that was asked.
  package let subject: String
  /// What it says about itself; nil for ours, and if it says nothing.
  package var description: HarnessDescription?
  package let suite: String
  /// The corpus's version; nil if it has none.
  package var edition: String?
  /// The suite's `digest`; nil for sets that others published.
  package let digest: String?
  /// What the ids of the cases contain; nil if all cases were taken.
  let filter: String?
  /// When the run began.
  package let date: Timestamp
  package var results: [VectorResult]
  /// Seconds.
  package let duration: Double

  /// The program that judged or asked.
  static let program = "mdoc \(ProgramVersion.text)"

  /// The folder's own name: where it lies on a machine is nobody else's business.
  var suiteName: String { SuiteFolder(suite).name }

  static var now: Timestamp { Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970.rounded(.down))) }

  package struct Count: Sendable, Hashable {
    package var passed = 0
    package var failed = 0
    /// Failed, and expected to.
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

  /// What failed: what every verifier must get right first, and the worst consequence before others.
  package var failures: [VectorResult] { Self.sorted(results.filter { $0.problem != nil }) }

  /// What failed and is expected to, in the same order.
  package var knownFailures: [VectorResult] { Self.sorted(results.filter { $0.knownProblem != nil }) }

  private static func sorted(_ results: [VectorResult]) -> [VectorResult] {
    results.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
  }

  /// The cases whose memory was measured, largest first.
  package var byMemory: [VectorResult] {
    results.filter { $0.measurement?.peakMemory != nil }
      .sorted { ($0.measurement?.peakMemory ?? 0) > ($1.measurement?.peakMemory ?? 0) }
  }

  /// The measured cases, sorted by processor time, largest first.
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

/// The result of one case.
package struct VectorResult: Sendable {
  package enum Outcome: Sendable, Hashable {
    case passed
    /// The text says what was expected and what came.
    case failed(String)
    /// The same, in a case that its maintainer lists.
    case knownFailure(String)
    /// The text says why it was not run.
    case skipped(String)
  }

  package let group: String
  package let summary: CaseSummary
  package var outcome: Outcome
  package let judgement: Judgement?
  /// Seconds.
  package let duration: Double
  /// Nil if the run does not measure.
  package var measurement: Measurement?
  /// How the verifier ended in place of a verdict; nil if it did not.
  package var end: VerifierEnd?

  /// The verifier's answer as text, for the reports.
  package var observed: String {
    guard let judgement else { return problem ?? "not run" }
    let codes = judgement.codes ?? []
    if judgement.isAccepted { return "accepted" }
    return codes.isEmpty ? "refused" : "refused with \(codes.joined(separator: ", "))"
  }

  package var problem: String? { if case .failed(let text) = outcome { text } else { nil } }
  package var knownProblem: String? { if case .knownFailure(let text) = outcome { text } else { nil } }
  package var skipReason: String? { if case .skipped(let text) = outcome { text } else { nil } }
}

extension Measurement {
  /// Which bound was exceeded; nil if none.
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
  /// What is wrong with a judgement; nil if nothing. If another verifier does not tell its codes, stage or warnings,
  /// they are not compared.
  package func problem(with judgement: Judgement) -> String? {
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

/// A case as the reports show it, whichever suite it is from.
package struct CaseSummary: Sendable, Hashable {
  /// The result that a case must have.
  package enum Expectation: Sendable, Hashable {
    case accepted
    /// Refused with these codes; empty if the suite does not name any.
    case refused([String])
    /// Accepted or refused; an output, if there is one, must be right.
    case either

    package var isAccepted: Bool { self == .accepted }

    package var codes: [String] { if case .refused(let codes) = self { codes } else { [] } }

    /// The expectation as text, for the reports.
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
