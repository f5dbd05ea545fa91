import Base
import Cryptography
import Mdoc
import Sessions

/// What a verifier made of an answer, without a single element's value.
package struct Judgement: Sendable, Hashable {
  package var isAccepted: Bool
  /// The failed checks, the primary one first; nil where another verifier does not say.
  package var codes: [String]?
  package var warnings: [String]?
  package var stage: VectorStage?
  /// SHA-256 over everything that the relying party would get to see: tells two accepted results apart.
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

  /// Nobody is trusted, so that nothing is looked at.
  static let emptyStore = Judgement(
    isAccepted: false, codes: [Code.trustStoreEmpty.rawValue], warnings: [], stage: .authenticate)

  /// What is asked for can't be: the vector itself is wrong, and no verdict is right.
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
    // Its first check is made on every response that could be read.
    guard outcome(.responseVersionUnsupported) != nil else { return .parse }
    return reasons.first.map { VectorStage.natural($0.code) }
  }

  private static func unique(_ names: [String]) -> [String] {
    names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }.map(\.element)
  }
}
