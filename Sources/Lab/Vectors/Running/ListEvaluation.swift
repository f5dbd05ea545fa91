import Base
import Cryptography
import PKIX
import Trust

/// What our readers make of a list of anchors.
struct ListEvaluation {
  let checks: [Check]
  let isAccepted: Bool
  let anchors: [TrustAnchor]
  private let statusListSigners: [Certificate]

  /// - Parameter signers: who may have signed it.
  init(_ bytes: [UInt8], of list: VectorList, signers: SignerPath.Anchors, at now: Timestamp) {
    switch list.format {
    case .vical:
      let evaluation = VICALVerifier(source: VICALSource(signers: signers, tier: .test))
        .evaluate(bytes, at: now, after: list.lastVICAL)
      checks = evaluation.checks
      isAccepted = evaluation.isAccepted
      anchors = evaluation.anchors
      statusListSigners = []
    case .trustedEntities:
      let source = TrustedEntityListSource(
        signers: signers, issuance: Dictionary(list.issuance.map { ($0.type, $0.docTypes) }) { first, _ in first },
        revocation: Set(list.revocation), tier: .test)
      let evaluation = TrustedEntityListVerifier(source: source).evaluate(
        bytes, at: now, after: list.lastTrustedEntities)
      checks = evaluation.checks
      isAccepted = evaluation.isAccepted
      anchors = evaluation.anchors
      statusListSigners = evaluation.statusListSigners.map(\.certificate)
    }
  }

  var judgement: Judgement {
    func codes(_ outcome: Check.Outcome) -> [String] {
      checks.filter { $0.outcome == outcome }.map(\.code.rawValue)
    }
    return Judgement(
      isAccepted: isAccepted, codes: codes(.failed), warnings: codes(.warning), stage: stage,
      resultHash: isAccepted ? HashAlgorithm.sha256.hash(result) : nil)
  }

  /// The signer is looked for once the signature's envelope could be read.
  private var stage: VectorStage {
    if isAccepted { return .accepted }
    let signer = checks.first { $0.code == .listSignerUntrusted }?.outcome ?? .notRun
    return signer == .notRun ? .parse : .authenticate
  }

  /// Everything that would be trusted, and for what.
  private var result: [UInt8] {
    let trusted = anchors.flatMap { anchor -> [UInt8] in
      anchor.certificate.sha256 + Array("\(anchor.kind) \((anchor.docTypes ?? []).joined(separator: " "))\n".utf8)
    }
    return trusted + statusListSigners.flatMap(\.sha256)
  }
}

extension VectorList {
  fileprivate var lastVICAL: AcceptedListMark? {
    guard let last, let date = Timestamp(rfc3339: last.date) else { return nil }
    return .init(issued: date, number: last.number.flatMap { UInt64(exactly: $0) }, digest: last.digest ?? [])
  }

  fileprivate var lastTrustedEntities: AcceptedListMark? {
    guard let last, let issued = Timestamp(rfc3339: last.date) else { return nil }
    return .init(issued: issued, number: UInt64(clamping: last.number ?? 0), digest: [])
  }
}
