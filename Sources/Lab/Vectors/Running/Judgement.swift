import Base
import Cryptography
import Mdoc
import Sessions

/// A verifier's judgement on a response. It contains no element values.
package struct Judgement: Sendable, Hashable {
  package var isAccepted: Bool
  /// The codes of the failed checks, the primary code first; nil if another verifier does not report codes.
  package var codes: [String]?
  package var warnings: [String]?
  package var stage: VectorStage?
  /// Another verifier's own remark; nil if it gives none.
  package var note: String?
  /// SHA-256 over the relying party's result. It distinguishes two accepted results.
  package var resultHash: [UInt8]?

  package init(
    isAccepted: Bool, codes: [String]? = nil, warnings: [String]? = nil, stage: VectorStage? = nil,
    resultHash: [UInt8]? = nil
  ) {
    (self.isAccepted, self.codes, self.warnings) = (isAccepted, codes, warnings)
    (self.stage, self.resultHash) = (stage, resultHash)
  }

  init(_ verdict: Verdict, session: VectorSession) {
    let checks = verdict.report.checks + verdict.report.documents.flatMap(\.checks)
    warnings = checks.filter { $0.outcome == .warning }.map(\.code.rawValue).unique
    switch verdict.outcome {
    case .accepted:
      isAccepted = true
      codes = []
      stage = .accepted
      resultHash = VerdictRendering.json(verdict)["result"].map { HashAlgorithm.sha256.hash($0.serialized()) }
    case .refused(let reasons):
      isAccepted = false
      codes = reasons.map(\.code.rawValue).unique
      stage = Self.stage(of: verdict.report, reasons, session)
    }
  }

  /// The judgement if no anchor is trusted. The response is then not read.
  static let emptyStore = Judgement(
    isAccepted: false, codes: [Code.trustStoreEmpty.rawValue], warnings: [], stage: .authenticate)

  /// The judgement on a malformed vector. Such a vector has no correct verdict.
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
    // `responseVersionUnsupported` is the first check of every readable response.
    guard outcome(.responseVersionUnsupported) != nil else { return .parse }
    return reasons.first.map { VectorStage.natural($0.code) }
  }
}

extension Sequence where Element: Hashable {
  /// The elements in their order, without duplicates.
  var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
