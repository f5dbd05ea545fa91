import Primitives

/// Runs a suite's vectors one after the other against a verifier, ours or another.
public struct VectorRunner: Sendable {
  /// Why another verifier gave no verdict.
  public struct NoVerdict: Error, Sendable {
    public let reason: String

    public init(reason: String) { self.reason = reason }
  }

  public typealias Judge = @Sendable (TestVector) async throws(NoVerdict) -> Judgement

  public let suite: VectorSuite
  /// The verifier's name in reports.
  public let subject: String
  /// Features that the verifier does not have: vectors that need them are skipped.
  public var missingFeatures: Set<String> = []
  /// Only ids that contain this.
  public var filter: String?
  private let judge: Judge

  /// This project's own verifier.
  public init(_ suite: VectorSuite) {
    let verifier = OwnVerifier(anchors: suite.anchors)
    self.init(suite, subject: "mdoc") { vector in verifier.judge(vector) }
  }

  public init(_ suite: VectorSuite, subject: String, judge: @escaping Judge) {
    self.suite = suite
    self.subject = subject
    self.judge = judge
  }

  public func run() async -> RunReport {
    let clock = ContinuousClock()
    let start = clock.now
    var results: [VectorResult] = []
    for entry in suite.entries where filter.map({ entry.vector.id.contains($0) }) ?? true {
      results.append(await run(entry))
      // Judging is pure computation: whoever shares the thread gets a turn between two cases.
      await Task.yield()
    }
    return RunReport(
      subject: subject, suite: suite.folder.path, results: results, duration: (clock.now - start).seconds)
  }

  private func run(_ entry: VectorSuite.Entry) async -> VectorResult {
    let vector = entry.vector
    if let feature = vector.features.first(where: missingFeatures.contains) {
      return result(entry, .skipped("needs \(feature)"), nil, 0)
    }
    let clock = ContinuousClock()
    let start = clock.now
    do throws(NoVerdict) {
      let judgement = try await judge(vector)
      let problem = vector.expectation.problem(with: judgement)
      return result(entry, problem.map { .failed($0) } ?? .passed, judgement, (clock.now - start).seconds)
    } catch {
      return result(entry, .failed("no verdict: \(error.reason)"), nil, (clock.now - start).seconds)
    }
  }

  private func result(
    _ entry: VectorSuite.Entry, _ outcome: VectorResult.Outcome, _ judgement: Judgement?, _ seconds: Double
  ) -> VectorResult {
    VectorResult(
      group: entry.group, vector: entry.vector, outcome: outcome, judgement: judgement, duration: seconds)
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
