import Base

/// A set of vectors that others published, in the layout in which they published it. For one more, make a type that
/// adopts this and list it in `PublishedSuite.sets`; where `LaterSet` had a row for it, that row goes.
protocol PublishedSet: Sendable {
  /// The set's name, which the ids of its cases begin with.
  var name: String { get }

  /// Whether the folder holds the set, told by what lies in it.
  func isHere(_ folder: SuiteFolder) -> Bool

  /// - Throws: where a file of the set can't be read.
  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase]
}

/// One case of a published set, and how it is judged.
struct PublishedCase {
  /// What came of it.
  enum Finding {
    case accepted
    /// With these codes, where the check has any.
    case refused([Code] = [])
    /// An output came, and another than the right one.
    case other(String)
    /// Why it can't be judged.
    case skipped(String)

    init(isAccepted: Bool) { self = isAccepted ? .accepted : .refused() }
  }

  /// The part of the set that it is in: a file, or a folder of files.
  var part: String
  /// Unique within the part.
  var id: String
  var description: String
  var reference: String
  var flag: VectorFlag
  var expectation: CaseSummary.Expectation
  var judge: () -> Finding

  /// The case's result. Where codes are expected, exactly those have to come.
  func result(in set: String, group: String) -> VectorResult {
    let clock = ContinuousClock()
    let start = clock.now
    let finding = judge()
    return VectorResult(
      group: group, summary: summary(in: set), outcome: outcome(of: finding), judgement: judgement(on: finding),
      duration: (clock.now - start).seconds)
  }

  func fullID(in set: String) -> String { [set, part, id].filter { !$0.isEmpty }.joined(separator: "/") }

  private func summary(in set: String) -> CaseSummary {
    CaseSummary(
      id: fullID(in: set), description: description, reference: reference, flags: [flag], expectation: expectation)
  }

  private func outcome(of finding: Finding) -> VectorResult.Outcome {
    switch (finding, expectation) {
    case (.skipped(let reason), _): .skipped(reason)
    case (.other(let problem), _): .failed(problem)
    case (_, .either), (.accepted, .accepted): .passed
    case (.accepted, .refused): .failed("accepted and should be \(expectation.text)")
    case (.refused(let codes), .refused(let expected)):
      expected.isEmpty || Set(expected) == Set(codes.map(\.rawValue))
        ? .passed : .failed("\(Self.text(codes)) and should be \(expectation.text)")
    case (.refused(let codes), .accepted): .failed("\(Self.text(codes)) and should be accepted")
    }
  }

  private func judgement(on finding: Finding) -> Judgement? {
    switch finding {
    case .accepted: Judgement(isAccepted: true, codes: [])
    case .refused(let codes): Judgement(isAccepted: false, codes: codes.map(\.rawValue))
    case .other, .skipped: nil
    }
  }

  private static func text(_ codes: [Code]) -> String {
    CaseSummary.Expectation.refused(codes.map(\.rawValue)).text
  }
}
