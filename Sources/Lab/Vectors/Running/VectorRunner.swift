import Base
import Cryptography
import Longfellow
import Mdoc
import Sessions

/// Runs a suite's vectors one after the other against our verifier or another.
package struct VectorRunner: Sendable {
  /// Why another verifier gave no verdict.
  package enum NoVerdict: Error, Sendable {
    /// It replied with something else. The case fails, and the run goes on.
    case other(String)
    /// It does not claim to judge the case, which is skipped. The text says why.
    case unsupported(String)
    /// It ended, and can be started again. The case fails, and the run goes on.
    case ended(VerifierEnd)
    /// It is not there, or it is silent. The run ends.
    case gone(String)
  }

  /// A run that ended early because the verifier was gone. What was judged until then is no report.
  package struct Interruption: Error, Sendable {
    package let reason: String
    /// The case that got no reply.
    package let id: String
    package let judged: Int
    package let total: Int
  }

  package typealias Judge = @Sendable (TestVector) async throws(NoVerdict) -> Judgement

  package let suite: VectorSuite
  /// The verifier's name in reports.
  package let subject: String
  /// Features that the verifier does not have. Vectors that need one are skipped.
  package var missingFeatures: Set<String> = []
  /// What the verifier claims to do. Vectors that need more are skipped. Nil if all is claimed.
  package var profiles: [VectorProfile]?
  /// What the verifier says about itself.
  package var description: HarnessDescription?
  /// Runs only vectors whose id contains this; nil runs all.
  package var filter: String?
  /// Judges each vector twice, measures the second time, and fails a case that exceeds `Limits`.
  package var measures = false
  private let judge: Judge

  /// This project's own verifier.
  ///
  /// - Parameter circuits: those by which proofs are verified. Vectors that need others are skipped.
  package init(_ suite: VectorSuite, circuits: CircuitLibrary? = nil) {
    let verifier = OwnVerifier(anchors: suite.anchors, circuits: circuits)
    self.init(suite, subject: "mdoc") { vector in await verifier.judge(vector) }
    missingFeatures = Set(KnownCircuit.all.filter { circuits?.circuits.contains($0) != true }.map(\.feature))
  }

  package init(_ suite: VectorSuite, subject: String, judge: @escaping Judge) {
    self.suite = suite
    self.subject = subject
    self.judge = judge
  }

  package func run() async throws(Interruption) -> RunReport {
    let date = RunReport.now
    let clock = ContinuousClock()
    let start = clock.now
    var results: [VectorResult] = []
    let entries = suite.entries.filter { entry in filter.map(entry.vector.id.contains) ?? true }
    for entry in entries {
      do throws(Gone) {
        results.append(try await run(entry))
      } catch {
        throw Interruption(
          reason: error.reason, id: entry.vector.id, judged: results.count { $0.skipReason == nil },
          total: entries.count { skipReason($0.vector) == nil })
      }
      // Judging never suspends, so other tasks of the thread get a turn here.
      await Task.yield()
    }
    return RunReport(
      subject: subject, description: description, suite: suite.path, edition: suite.edition, digest: suite.digest,
      filter: filter, date: date, results: results, duration: (clock.now - start).seconds)
  }

  private struct Gone: Error { let reason: String }

  private func run(_ entry: VectorSuite.Entry) async throws(Gone) -> VectorResult {
    var vector = entry.vector
    if let reason = skipReason(vector) { return result(entry, .skipped(reason), nil, 0) }
    let clock = ContinuousClock()
    var start = clock.now
    do throws(NoVerdict) {
      var meter: Meter?
      if measures {
        // A described input is expanded before the measurement, so that it is not counted.
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
      let seconds = (clock.now - start).seconds
      switch error {
      case .gone(let reason): throw Gone(reason: reason)
      case .other(let reason): return result(entry, .failed("no verdict: \(reason)"), nil, seconds)
      case .unsupported(let reason): return result(entry, .skipped(reason), nil, seconds)
      case .ended(let end):
        var result = result(entry, .failed("no verdict: the verifier \(end.text)"), nil, seconds)
        result.end = end
        return result
      }
    }
  }

  /// Why the verifier is not asked; nil if it is.
  private func skipReason(_ vector: TestVector) -> String? {
    if let feature = vector.features.first(where: missingFeatures.contains) { return "needs \(feature)" }
    guard let profiles, let needed = vector.profiles.first(where: { !profiles.contains($0) }) else { return nil }
    return "of the profile \(needed.rawValue), which is not claimed"
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

/// A verifier's judgement on an answer. It contains no element's value.
package struct Judgement: Sendable, Hashable {
  package var isAccepted: Bool
  /// The codes of the failed checks, the primary one first; nil if another verifier does not tell.
  package var codes: [String]?
  package var warnings: [String]?
  package var stage: VectorStage?
  /// Another verifier's own words; nil if it has none.
  package var note: String?
  /// SHA-256 over everything that the relying party would see. It tells two accepted results apart.
  package var resultHash: [UInt8]?

  package init(
    isAccepted: Bool, codes: [String]? = nil, warnings: [String]? = nil, stage: VectorStage? = nil,
    resultHash: [UInt8]? = nil
  ) {
    self.isAccepted = isAccepted
    self.codes = codes
    self.warnings = warnings
    self.stage = stage
    self.resultHash = resultHash
  }

  init(_ verdict: Verdict, session: VectorSession) {
    let checks = verdict.report.checks + verdict.report.documents.flatMap(\.checks)
    warnings = Self.unique(checks.filter { $0.outcome == .warning }.map(\.code.rawValue))
    switch verdict.outcome {
    case .accepted:
      isAccepted = true
      codes = []
      stage = .accepted
      resultHash = VerdictRendering.json(verdict)["result"].map { HashAlgorithm.sha256.hash($0.serialized()) }
    case .refused(let reasons):
      isAccepted = false
      codes = Self.unique(reasons.map(\.code.rawValue))
      stage = Self.stage(of: verdict.report, reasons, session)
    }
  }

  /// The judgement if no anchor is trusted, in which case the answer is not even read.
  static let emptyStore = Judgement(
    isAccepted: false, codes: [Code.trustStoreEmpty.rawValue], warnings: [], stage: .authenticate)

  /// The judgement on a vector that is wrong itself, for which no verdict is right.
  static func invalid(_ problem: String) -> Judgement { Judgement(isAccepted: false, codes: ["vector: \(problem)"]) }

  private static func stage(
    of report: VerificationReport, _ reasons: [Reason], _ session: VectorSession
  ) -> VectorStage? {
    func outcome(_ code: Code) -> Check.Outcome? { report.checks.first { $0.code == code }?.outcome }
    switch session {
    case .appleInApp where outcome(.envelopePlaintextMalformed) != .passed: return .open
    case .annexC where outcome(.envelopeDecryptionFailed) != .passed: return .open
    case .openID4VP where reasons.first.map { VectorStage.stages(of: $0.code) == [.open] } == true: return .open
    default: break
    }
    // `responseVersionUnsupported` is the first check of every response that could be read.
    guard outcome(.responseVersionUnsupported) != nil else { return .parse }
    return reasons.first.map { VectorStage.natural($0.code) }
  }

  private static func unique(_ names: [String]) -> [String] {
    names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }.map(\.element)
  }
}
