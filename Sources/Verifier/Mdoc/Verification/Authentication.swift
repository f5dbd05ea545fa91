import Base
import PKIX

/// An answer after its own checks, before its revocation is known. Its data can't be read: only the verdict has them.
public struct Authentication: ~Copyable, Sendable {
  /// The questions to ask publishers. Empty if the policy asks nothing, no status is declared, or no issuer is trusted.
  ///
  /// The getter is never inlined, so that the caller owns the array that it returns. If a field is read out of a
  /// noncopyable value, the optimiser of Swift 6.3 destroys the field with that value, though the caller still uses it.
  public var questions: [RevocationQuestion] { @inline(never) get { asked } }
  private let asked: [RevocationQuestion]
  private let state: State

  private enum State {
    case decided(Verdict)
    case authenticated(AuthenticatedResponse)
  }

  init(decided verdict: Verdict) {
    asked = []
    state = .decided(verdict)
  }

  init(_ response: AuthenticatedResponse) {
    asked = response.questions
    state = .authenticated(response)
  }

  /// The verdict. A question that the evidence leaves unanswered is undetermined.
  public consuming func conclude(with evidence: RevocationEvidence = RevocationEvidence()) -> Verdict {
    switch state {
    case .decided(let verdict): verdict
    case .authenticated(let response): response.conclude(with: evidence)
    }
  }
}

/// Every document of an answer after its own checks.
struct AuthenticatedResponse: Sendable {
  private let verifier: MdocVerifier
  private let request: PresentationRequest?
  private let now: Timestamp
  private let responseChecks: CheckList
  private let documents: [AuthenticatedDocument]
  private let fallsBackToAgeInYears: Bool
  /// The first response and its transcript; nil unless the data of a simulated answer are shown beside its refusal.
  private let simulated: (response: DeviceResponse, transcript: SessionTranscript)?

  init(
    verifier: MdocVerifier, presented: consuming PresentedResponse, request: PresentationRequest?, now: Timestamp,
    responseChecks: CheckList, documents: [AuthenticatedDocument]
  ) {
    self.verifier = verifier
    self.request = request
    self.now = now
    self.responseChecks = responseChecks
    self.documents = documents
    fallsBackToAgeInYears = presented.fallsBackToAgeInYears
    simulated =
      presented.showsSimulatedAnswers
      ? presented.parts.first.map { ($0.response, presented.transcript) } : nil
  }

  var questions: [RevocationQuestion] {
    documents.flatMap { $0.revocation?.questions ?? [] }
  }

  func conclude(with evidence: RevocationEvidence) -> Verdict {
    let outcomes = documents.map { $0.conclude(with: evidence, verifier: verifier) }
    let acceptance = AcceptanceRules(
      request: request, isStrict: verifier.isStrict, fallsBackToAgeInYears: fallsBackToAgeInYears, now: now)
    var verdict = acceptance.decide(outcomes, responseChecks: responseChecks) { checks, reports in
      VerificationReport(
        verifiedAt: now, trustSnapshot: verifier.trust.snapshot, revocationPolicy: verifier.revocation, checks: checks,
        documents: reports)
    }
    if let simulated, case .refused = verdict.outcome {
      verdict.simulated = SimulatedPresentation(
        simulated.response, transcript: simulated.transcript, request: request,
        fallsBackToAgeInYears: fallsBackToAgeInYears, at: now)
    }
    return verdict
  }
}

/// One document after every check that needs nothing from outside. `conclude` adds the evidence on revocation.
struct AuthenticatedDocument: Sendable {
  let document: Document
  let checks: CheckList
  /// Nil if no valid issuer signature covers a mobile security object.
  let signed: IssuerAuthentication.Signed?
  /// Nil if the device was not authenticated.
  let method: DeviceAuthenticationMethod?
  /// The check of revocation; nil if the policy asks nothing, the issuer is not trusted, or its signature is not
  /// valid. An address is asked only if a trusted issuer signed it (architecture, 3).
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
      checks.skipRest(of: RevocationCheck.codes)
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

  /// The report. In strict mode a warning becomes a failure, except one about revocation: the relying party chose on
  /// purpose to allow what is undetermined.
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
