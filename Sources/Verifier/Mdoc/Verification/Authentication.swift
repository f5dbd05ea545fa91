import Base
import CBOR
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
  /// Whether the responses hold something that was not read, proofs that were not asked for included.
  private let leavesUnread: Bool
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
    let readsProofs = verifier.readsProofs(of: request)
    leavesUnread =
      presented.leavesUnread
      || presented.parts.contains { part in
        part.response.leavesUnread || !readsProofs && !part.response.zkDocuments.isEmpty
      }
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
      request: request, isStrict: verifier.isStrict, fallsBackToAgeInYears: fallsBackToAgeInYears,
      leavesUnread: leavesUnread, now: now)
    var verdict = acceptance.decide(
      outcomes, answering: documents.map(\.requestIndex), responseChecks: responseChecks
    ) { checks, reports in
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
  let docType: String
  let checks: CheckList
  /// The slips in what the issuer signed (`Slip`), each with its member.
  let slips: [String]
  /// Nil where the issuer, its signature or the device was not authenticated.
  let content: Content?
  /// The check of revocation; nil where the policy asks nothing, the issuer is not trusted, or its signature is not
  /// valid. An address is asked only if a trusted issuer signed it (architecture, 3).
  let revocation: RevocationCheck?
  /// The index of the document in the request that it answers; nil if there is none.
  var requestIndex: Int?

  /// What was authenticated.
  struct Content: Sendable {
    let signer: Certificate
    let anchor: TrustAnchor
    /// Nil where a proof hides it.
    let validity: DocumentValidity?
    let method: DeviceAuthenticationMethod
    /// The COSE_Key that the issuer signed; nil where a proof hides it.
    let deviceKey: CBORItem?
    /// The issuer-signed elements with their values, in the order of the response.
    let elements: [ElementReference]
    let items: [CBORItem]
    let deviceSigned: [DeviceSigned.Element]
  }

  init(
    docType: String, checks: CheckList, slips: [String] = [], content: Content? = nil,
    revocation: RevocationCheck? = nil
  ) {
    self.docType = docType
    self.checks = checks
    self.slips = slips
    self.content = content
    self.revocation = revocation
  }

  /// - Parameter method: nil where the device was not authenticated.
  init(
    _ document: Document, _ signed: IssuerAuthentication.Signed, method: DeviceAuthenticationMethod?,
    checks: CheckList, policy: RevocationPolicy
  ) {
    self.init(
      docType: document.docType, checks: checks, slips: signed.mso.slips.map { "issuerSigned.issuerAuth.\($0)" },
      content: signed.anchor.flatMap { anchor in
        method.map { Content(document, signed, anchor: anchor, method: $0) }
      },
      revocation: signed.anchor.flatMap { anchor in
        policy == .off ? nil : RevocationCheck(mso: signed.mso, path: signed.path, anchor: anchor)
      })
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
    guard let content, !report.checks.contains(where: { $0.outcome == .failed }) else { return .rejected(report) }
    return .verified(VerifiedDocument(docType: docType, content, revocation: status), report)
  }

  /// The report. In strict mode a warning becomes a failure, except one about revocation: the relying party chose on
  /// purpose to allow what is undetermined.
  private func report(_ checks: CheckList, isStrict: Bool) -> DocumentReport {
    let docType = shown(docType, limit: 256)
    guard isStrict else { return DocumentReport(docType: docType, checks: checks.checks) }
    let checks = checks.checks.map { check in
      check.outcome == .warning && !RevocationCheck.codes.contains(check.code)
        ? Check(check.code, .failed, detail: check.detail) : check
    }
    return DocumentReport(docType: docType, checks: checks)
  }
}

extension AuthenticatedDocument.Content {
  fileprivate init(
    _ document: Document, _ signed: IssuerAuthentication.Signed, anchor: TrustAnchor,
    method: DeviceAuthenticationMethod
  ) {
    var elements: [ElementReference] = []
    var items: [CBORItem] = []
    let count = document.issuerSigned.reduce(0) { $0 + $1.items.count }
    elements.reserveCapacity(count)
    items.reserveCapacity(count)
    for namespace in document.issuerSigned {
      for index in namespace.items.indices {
        elements.append(ElementReference(namespace.name, namespace.items[index].identifier))
        items.append(namespace.items[index].value)
      }
    }
    self.init(
      signer: signed.signer, anchor: anchor, validity: signed.mso.validity, method: method,
      deviceKey: signed.mso.deviceKey, elements: elements, items: items,
      deviceSigned: document.deviceSigned?.elements ?? [])
  }
}

extension DocumentIssuer {
  init(signer: Certificate, anchor: TrustAnchor) {
    self.init(
      country: signer.subject.country, stateOrProvince: signer.subject.stateOrProvince,
      commonName: signer.subject.commonName, certificateSHA256: signer.fingerprint,
      anchorSHA256: anchor.certificate.fingerprint)
  }
}
