import Primitives

/// One vector's run.
public struct VectorResult: Sendable {
  public enum Outcome: Sendable, Hashable {
    case passed
    /// What was expected and what came.
    case failed(String)
    /// Why it was not run.
    case skipped(String)
  }

  public let group: String
  public let vector: TestVector
  public let outcome: Outcome
  public let judgement: Judgement?
  /// Seconds.
  public let duration: Double

  public var problem: String? { if case .failed(let text) = outcome { text } else { nil } }
  public var skipReason: String? { if case .skipped(let text) = outcome { text } else { nil } }
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
