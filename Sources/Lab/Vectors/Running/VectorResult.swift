import Base

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
