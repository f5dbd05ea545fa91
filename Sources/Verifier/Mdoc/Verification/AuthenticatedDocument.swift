import Base
import PKIX

/// A document after every check that needs nothing from outside: what it comes to is decided with the evidence on
/// revocation.
struct AuthenticatedDocument: Sendable {
  let document: Document
  let checks: CheckList
  /// Nil where no valid issuer signature covers a mobile security object.
  let signed: IssuerAuthentication.Signed?
  /// Nil where the device was not authenticated.
  let method: DeviceAuthenticationMethod?
  /// What to ask; nil where the policy asks nothing. The issuer must be trusted and its signature valid: an address that
  /// nobody trusted signed is not asked (architecture, 3).
  let revocation: RevocationCheck?

  init(
    document: Document, checks: CheckList, signed: IssuerAuthentication.Signed? = nil,
    method: DeviceAuthenticationMethod? = nil, policy: RevocationPolicy = .off
  ) {
    self.document = document
    self.checks = checks
    self.signed = signed
    self.method = method
    if policy != .off, let signed, let anchor = signed.anchor {
      revocation = RevocationCheck(mso: signed.mso, path: signed.path, anchor: anchor)
    } else {
      revocation = nil
    }
  }

  func conclude(with evidence: RevocationEvidence, verifier: MdocVerifier) -> DocumentOutcome {
    var checks = checks
    var status = RevocationStatus.notRun
    if let revocation {
      status = revocation.run(evidence: evidence, policy: verifier.revocation, into: &checks)
    } else {
      RevocationCheck.skip(&checks)
    }
    let report = report(checks, isStrict: verifier.isStrict)
    guard let signed, let anchor = signed.anchor, let method,
      !report.checks.contains(where: { $0.outcome == .failed })
    else { return .rejected(report) }
    let verified = VerifiedDocument(
      docType: document.docType, issuer: DocumentIssuer(signer: signed.signer, anchor: anchor),
      validity: signed.mso.validity, deviceAuthentication: method, revocation: status,
      issuerSigned: document.issuerSigned, deviceSigned: document.deviceSigned?.elements ?? [])
    return .verified(verified, report)
  }

  /// In strict mode a profile finding rejects. What is undetermined is not one: its policy was chosen on purpose.
  private func report(_ checks: CheckList, isStrict: Bool) -> DocumentReport {
    let docType = shown(document.docType, limit: 256)
    guard isStrict else { return DocumentReport(docType: docType, checks: checks.checks) }
    let checks = checks.checks.map { check in
      check.outcome == .warning && !RevocationCheck.codes.contains(check.code)
        ? Check(check.code, .failed, detail: check.detail) : check
    }
    return DocumentReport(docType: docType, checks: checks)
  }
}

extension DocumentIssuer {
  fileprivate init(signer: Certificate, anchor: TrustAnchor) {
    self.init(
      country: signer.subject.country, stateOrProvince: signer.subject.stateOrProvince,
      commonName: signer.subject.commonName, certificateSHA256: signer.fingerprint,
      anchorSHA256: anchor.certificate.fingerprint)
  }
}
