import Base
import Cryptography
import Mdoc

extension EvidenceBundle {
  /// - `fault` is nil where the answer was accepted again, with the report that was given.
  package typealias Verification = (verdict: Verdict, report: ReportRecord, fault: EvidenceFault?)

  /// Verifies the answer once more, by the protocol and the verifier that servers use, at the time and with the trust
  /// and the lists of then.
  ///
  /// The report is that of this verification. Where it is not the one that was given, or the answer is not accepted, the
  /// bundle proves nothing: `evidence.report_mismatch`.
  ///
  /// - Parameter protocols: those that the program has.
  package func verify(
    by protocols: [any WalletProtocol] = BuiltProtocols.all(isLive: true)
  ) async -> Verification {
    let now = Timestamp(secondsSince1970: report.verifiedAt)
    let policy = report.revocationPolicy.flatMap(RevocationPolicy.init) ?? .requireGood
    let verifier = MdocVerifier(trust: trust, clockSkew: clockSkew, revocation: policy)
    let authentication: Authentication
    if let wallet = protocols.first(where: { $0.name == protocolName }) {
      let secret = openingSecret.map { $0.bytes.withUnsafeBytes { SecretBytes(copying: $0) } }
      authentication = wallet.reopening(with: secret).authenticate(
        answer, answering: .kept(in: self), request: request, relyingParty: RelyingParty(id: relyingParty),
        verifier: verifier, at: now)
    } else {
      authentication = verifier.refuse([Check(.sessionProtocolMismatch, .failed, detail: protocolName)], at: now)
    }
    let evidence = await revocation.evidence(for: authentication.questions, at: now)
    let verdict = authentication.conclude(with: evidence)
    let report = ReportRecord(verdict.report, id: self.report.id.flatMap(ReportID.init))
    if case .accepted = verdict.outcome, report == self.report { return (verdict, report, nil) }
    let detail = program == ProgramVersion.text ? nil : "kept by version \(program); this is \(ProgramVersion.text)"
    return (verdict, report, EvidenceFault(.evidenceReportMismatch, detail))
  }
}
