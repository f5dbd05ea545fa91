import Base
import Longfellow

/// The reason why another verifier gave no verdict.
package enum VerdictError: Error, Sendable {
  /// A malformed reply. The case fails, and the run continues.
  case other(String)
  /// The verifier does not claim to judge the case, so it is skipped. The text is the reason.
  case unsupported(String)
  /// The verifier ended, and can be started again. The case fails, and the run continues.
  case ended(VerifierError)
  /// The verifier cannot be started, or gives no valid first reply. The run ends.
  case gone(String)

  /// Runs a blocking call on a separate thread.
  package static func blocking<Value: Sendable>(
    _ call: @escaping @Sendable () throws(VerdictError) -> Value
  ) async throws(VerdictError) -> Value {
    let result = Locked<Result<Value, VerdictError>>(.failure(.gone("the system provides no thread for the call")))
    await BackgroundThread.run {
      let made = Result(catching: call)
      result.withLock { $0 = made }
    }
    return try result.withLock { $0 }.get()
  }
}

/// The error of a run that ended early because the verifier was unavailable. Such a run makes no report.
package struct InterruptedRunError: Error, Sendable {
  package let reason: String
  /// The case without a reply.
  package let id: String
  package let judged: Int
  package let total: Int
}

/// Runs a suite's vectors one after the other against our verifier or another.
package struct VectorRunner: Sendable {
  package typealias Judge = @Sendable (TestVector) async throws(VerdictError) -> Judgement

  package let suite: VectorSuite
  /// The verifier's name in reports.
  package let subject: String
  /// Features that the verifier does not have. Vectors that need such a feature are skipped.
  package var missingFeatures: Set<String> = []
  /// The profiles that the verifier claims. Vectors that need other profiles are skipped. Nil if the verifier claims
  /// all profiles.
  package var profiles: [VectorProfile]?
  /// The rules that the verifier leaves to its caller. Vectors about them are skipped.
  package var leaves: [CallerRule] = []
  package var description: HarnessDescription?
  /// Runs only vectors with this text in their id; nil runs all.
  package var filter: String?
  /// Judges each vector twice, measures the second time, and fails a case that exceeds `Limits`.
  package var measures = false
  /// Called after each case with the number of finished cases and the total.
  package var progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  private let judge: Judge

  /// This project's own verifier.
  /// - Parameter circuits: the circuits for verifying proofs. Vectors that need other circuits are skipped.
  package init(_ suite: VectorSuite, circuits: CircuitLibrary? = nil) {
    let verifier = OwnVerifier(anchors: suite.anchors, circuits: circuits)
    self.init(suite, subject: "mdoc") { vector in await verifier.judge(vector) }
    missingFeatures = Set(KnownCircuit.all.filter { circuits?.circuits.contains($0) != true }.map(\.feature))
  }

  package init(_ suite: VectorSuite, subject: String, judge: @escaping Judge) {
    (self.suite, self.subject, self.judge) = (suite, subject, judge)
  }

  package func run() async throws(InterruptedRunError) -> RunReport {
    let date = RunReport.now
    let clock = ContinuousClock()
    let start = clock.now
    var results: [VectorResult] = []
    let entries = suite.entries.filter { entry in filter.map(entry.vector.id.contains) ?? true }
    for entry in entries {
      do throws(VerdictError) {
        results.append(try await run(entry))
      } catch {
        let reason = if case .gone(let reason) = error { reason } else { "\(error)" }
        throw InterruptedRunError(
          reason: reason, id: entry.vector.id, judged: results.count { $0.skipReason == nil },
          total: entries.count { skipReason($0.vector) == nil })
      }
      progress(results.count, entries.count)
      // Judging never suspends. Yield so that other tasks can run.
      await Task.yield()
    }
    return RunReport(
      subject: subject, description: description, suite: suite.path, edition: suite.edition, digest: suite.digest,
      filter: filter, date: date, results: results, duration: (clock.now - start) / .seconds(1))
  }

  /// - Throws: `VerdictError.gone` only.
  private func run(_ entry: VectorSuite.Entry) async throws(VerdictError) -> VectorResult {
    var vector = entry.vector
    let clock = ContinuousClock()
    var start = clock.now
    func result(_ outcome: VectorResult.Outcome, _ judgement: Judgement? = nil) -> VectorResult {
      VectorResult(
        of: CaseSummary(entry.vector), in: entry.group, outcome, judgement, seconds: (clock.now - start) / .seconds(1))
    }
    if let reason = skipReason(vector) { return result(.skipped(reason)) }
    do throws(VerdictError) {
      var meter: Meter?
      if measures {
        // The expansion of a described input is not measured.
        vector.input = vector.input.inFull
        Meter.prepare()
        _ = try await judge(vector)
        start = clock.now
        meter = Meter()
      }
      let judgement = try await judge(vector)
      if judgement.isAccepted, leaves.contains(.acceptance), vector.expectation.isLeftToAcceptance {
        return result(.skipped(CallerRule.acceptance.reason))
      }
      let measurement = meter?.read(for: vector.input.count)
      let problem = vector.expectation.problem(with: judgement) ?? measurement?.problem
      var result = result(problem.map { .failed($0) } ?? .passed, judgement)
      result.measurement = measurement
      return result
    } catch {
      switch error {
      case .gone: throw error
      case .other(let reason): return result(.failed("no verdict: \(reason)"))
      case .unsupported(let reason): return result(.skipped(reason))
      case .ended(let end):
        var result = result(.failed("no verdict: the verifier \(end.text)"))
        result.end = end
        return result
      }
    }
  }

  /// The reason to skip a case; nil if it is run.
  private func skipReason(_ vector: TestVector) -> String? {
    if let feature = vector.features.first(where: missingFeatures.contains) { return "needs \(feature)" }
    if let profiles, let needed = vector.profiles.first(where: { !profiles.contains($0) }) {
      return "the profile \(needed.rawValue) is not claimed"
    }
    return leaves.first { $0.applies(to: vector, under: suite.anchors) }?.reason
  }
}
