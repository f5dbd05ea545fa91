import Base

/// Runs a suite's vectors one after the other against a verifier, ours or another.
package struct VectorRunner: Sendable {
  /// Why another verifier gave no verdict.
  package struct NoVerdict: Error, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  package typealias Judge = @Sendable (TestVector) async throws(NoVerdict) -> Judgement

  package let suite: VectorSuite
  /// The verifier's name in reports.
  package let subject: String
  /// Features that the verifier does not have: vectors that need them are skipped.
  package var missingFeatures: Set<String> = []
  /// Only ids that contain this.
  package var filter: String?
  /// Measures each judgement, after one that is not counted, and fails a case that exceeds `Limits`.
  package var measures = false
  private let judge: Judge

  /// This project's own verifier.
  package init(_ suite: VectorSuite) {
    let verifier = OwnVerifier(anchors: suite.anchors)
    self.init(suite, subject: "mdoc") { vector in await verifier.judge(vector) }
  }

  package init(_ suite: VectorSuite, subject: String, judge: @escaping Judge) {
    self.suite = suite
    self.subject = subject
    self.judge = judge
  }

  package func run() async -> RunReport {
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
    var vector = entry.vector
    if let feature = vector.features.first(where: missingFeatures.contains) {
      return result(entry, .skipped("needs \(feature)"), nil, 0)
    }
    let clock = ContinuousClock()
    var start = clock.now
    do throws(NoVerdict) {
      var meter: Meter?
      if measures {
        // What is described is made before, so that it is not counted.
        vector.input = VectorInput(parts: [.init(vector.input.bytes)])
        Meter.prepare()
        _ = try await judge(vector)
        start = clock.now
        meter = Meter()
      }
      let judgement = try await judge(vector)
      let measurement = meter?.read(for: vector.input.count)
      let problem = vector.expectation.problem(with: judgement) ?? measurement?.problem
      return result(
        entry, problem.map { .failed($0) } ?? .passed, judgement, (clock.now - start).seconds, measurement)
    } catch {
      return result(entry, .failed("no verdict: \(error.reason)"), nil, (clock.now - start).seconds)
    }
  }

  private func result(
    _ entry: VectorSuite.Entry, _ outcome: VectorResult.Outcome, _ judgement: Judgement?, _ seconds: Double,
    _ measurement: Measurement? = nil
  ) -> VectorResult {
    VectorResult(
      group: entry.group, summary: CaseSummary(entry.vector), outcome: outcome, judgement: judgement, duration: seconds,
      measurement: measurement)
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
