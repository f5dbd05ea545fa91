import Base
import CBOR
import PKIX

/// Verifies opened responses: issuer authentication, digests, validity, device authentication, and the request.
///
/// It does no I/O, makes no random bytes, and reads no clock except to measure proofs for `didVerifyProof`. Its report
/// lists every failed check, not only the first.
public struct MdocVerifier: Sendable {
  public var trust: any IssuerTrust
  /// The allowed clock skew, in seconds. It applies only to validFrom, validUntil, the validity of certificates, and
  /// the rule that nothing is signed in the future.
  public var clockSkew: Int64
  /// Whether a deviation from a certificate or data profile rejects the response.
  public var isStrict: Bool
  public var revocation: RevocationPolicy
  /// The policy for proofs; nil if no zero-knowledge proofs are verified.
  public var proofs: ProofPolicy?
  /// Called before the documents of an opened response are checked, so that callers can measure time.
  public var willAuthenticate: (@Sendable () -> Void)?
  /// Called after each verification of a zero-knowledge proof, so that callers can count and measure time.
  package var didVerifyProof: (@Sendable (ProofRun) -> Void)?

  public init(
    trust: any IssuerTrust, clockSkew: Int64 = Limits.clockSkew, isStrict: Bool = false,
    revocation: RevocationPolicy = .off
  ) {
    self.trust = trust
    self.clockSkew = max(0, clockSkew)
    self.isStrict = isStrict
    self.revocation = revocation
  }

  /// Makes every check that needs no other data. Lists the revocation checks, which need publishers' lists.
  /// - Parameters:
  ///   - request: nil accepts every verified element of every verified document.
  ///   - earlierChecks: the protocol's own checks, for the report.
  public func authenticate(
    _ presented: consuming PresentedResponse, request: PresentationRequest?, at now: Timestamp,
    earlierChecks: [Check] = []
  ) -> Authentication {
    willAuthenticate?()
    let presented = presented
    var responseChecks = CheckList(expecting: 32)
    responseChecks.append(earlierChecks)
    for part in presented.parts {
      ResponseCheck(
        part: part, request: request, maxDocuments: presented.isAppleInApp ? 1 : nil,
        readsProofs: readsProofs(of: request),
        isStrict: isStrict
      ).run(into: &responseChecks)
    }
    var satisfied: Set<Int> = []
    /// The index of the requested document that a returned document satisfies; nil if no unsatisfied request has its
    /// type. Each request can be satisfied only once. If the response has no query, the second document of a type
    /// satisfies the second request for that type.
    func match(_ docType: String, query: PresentedResponse.Query?) -> Int? {
      let index = request?.documents.indices.first { index in
        (query == nil || query?.index == index) && !satisfied.contains(index)
          && request?.documents[index].docType.hasSameBytes(as: docType) == true
      }
      if let index { satisfied.insert(index) }
      return index
    }
    let plain = presented.parts.flatMap { part in part.response.documents.map { (document: $0, query: part.query) } }
    var documents = plain.enumerated().map { index, item in
      // All documents are signed over the same transcript, so the alternatives are tried only for the first document.
      // Otherwise a wallet could make the verifier check thousands of signatures, on a curve of its choice.
      let verification = DocumentVerification(
        document: item.document, transcript: presented.transcript, readerKey: presented.readerKey,
        alternatives: index == 0 ? presented.alternatives : [], verifier: self, now: now)
      var document = verification.run(request: request, recognizesAppleMocks: presented.isAppleInApp)
      document.requestIndex = match(document.docType, query: item.query)
      return document
    }
    let deviations = documents.enumerated().flatMap { index, document in
      document.deviations.map { "documents[\(index)].\($0)" }
    }
    if !deviations.isEmpty { ResponseCheck.note(deviations, isStrict: isStrict, into: &responseChecks) }
    let proofs = presented.parts.flatMap { part in part.response.zkDocuments.map { (item: $0, query: part.query) } }
    for (item, query) in readsProofs(of: request) ? proofs : [] {
      let index = ZkDocument.docType(of: item).flatMap { match($0, query: query) }
      let verification = ProofVerification(
        item: item, transcript: presented.transcript, request: request, requestIndex: index, verifier: self, now: now)
      // Verifying a proof is expensive. Stop at the first failed check.
      let mayProve = !responseChecks.hasFailed && !documents.contains(where: \.checks.hasFailed)
      var document = verification.run(mayProve: mayProve)
      document.requestIndex = index
      documents.append(document)
    }
    return Authentication(
      AuthenticatedResponse(
        verifier: self, presented: presented, request: request, now: now, responseChecks: responseChecks,
        documents: documents))
  }

  /// True if the request accepts proofs. Without a request, true if the verifier can verify proofs.
  func readsProofs(of request: PresentationRequest?) -> Bool {
    request?.documents.contains { $0.proofs != nil } ?? (proofs != nil)
  }

  /// Every check of a response, then of each document, in order of execution. The first failed check gives the
  /// rejection its code, so the order of the checks affects the result. A protocol's checks of its envelope precede
  /// these checks. Unreadable bytes are reported by the check that detects them.
  static let responseChecks: [Code] = ResponseCheck.codes + [.documentMissing, .nothingDisclosed]
  static let documentChecks: [Code] = DocumentVerification.codes + RevocationCheck.codes + AcceptanceRules.codes
  static let proofChecks: [Code] = ProofVerification.codes + RevocationCheck.codes + AcceptanceRules.codes

  /// Rejects a response that could not be opened or read, without questions on revocation.
  /// - Parameter walletDescription: the wallet's description of its own error, printable.
  public func refuse(_ checks: [Check], walletDescription: String? = nil, at now: Timestamp) -> Authentication {
    var verdict = Verdict.refused(report(checks, at: now))
    verdict.walletDescription = walletDescription
    return Authentication(decided: verdict)
  }

  func report(_ checks: [Check], at now: Timestamp) -> VerificationReport {
    VerificationReport(verifiedAt: now, trustSnapshot: trust.snapshot, revocationPolicy: revocation, checks: checks)
  }
}

/// Decides which signers may sign documents of a type. The trust store implements it.
public protocol IssuerTrust: Sendable {
  /// SHA-256 of all data on which trust depends, in hexadecimal.
  var snapshot: String { get }

  /// Validates a document signer's chain for a document type.
  func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation
}

/// A response after its own checks, with its revocation status still unknown. Its data cannot be read here. Only the
/// verdict gives access to them.
public struct Authentication: ~Copyable, Sendable {
  /// The questions for publishers; empty if the policy asks nothing, no status is declared, or no issuer is trusted.
  ///
  /// The getter is never inlined, so that the caller owns the returned array. This avoids a bug of Swift 6.3's
  /// optimiser. It destroys a field that was read from a noncopyable value together with the value, even if the caller
  /// still uses the field.
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
    asked = response.documents.flatMap { $0.revocation?.questions ?? [] }
    state = .authenticated(response)
  }

  /// The verdict. A question without evidence is undetermined.
  public consuming func conclude(with evidence: RevocationEvidence = RevocationEvidence()) -> Verdict {
    switch state {
    case .decided(let verdict): verdict
    case .authenticated(let response): response.conclude(with: evidence)
    }
  }
}

/// Every document of a response after its own checks.
struct AuthenticatedResponse: Sendable {
  let documents: [AuthenticatedDocument]
  private let verifier: MdocVerifier
  private let rules: AcceptanceRules
  private let responseChecks: CheckList
  /// The first response and its transcript; nil unless a rejected simulator's data are shown.
  private let simulated: (response: DeviceResponse, transcript: SessionTranscript)?

  init(
    verifier: MdocVerifier, presented: consuming PresentedResponse, request: PresentationRequest?, now: Timestamp,
    responseChecks: CheckList, documents: [AuthenticatedDocument]
  ) {
    self.verifier = verifier
    self.responseChecks = responseChecks
    self.documents = documents
    let readsProofs = verifier.readsProofs(of: request)
    let leavesUnread =
      presented.leavesUnread
      || presented.parts.contains { part in
        part.response.leavesUnread || !readsProofs && !part.response.zkDocuments.isEmpty
      }
    rules = AcceptanceRules(
      request: request, isStrict: verifier.isStrict, fallsBackToAgeInYears: presented.isAppleInApp,
      leavesUnread: leavesUnread, now: now)
    let shown = presented.showsSimulatedResponses ? presented.parts.first : nil
    simulated = shown.map { ($0.response, presented.transcript) }
  }

  func conclude(with evidence: RevocationEvidence) -> Verdict {
    var verdict = rules.decide(
      documents.map { $0.conclude(with: evidence, verifier: verifier) }, requestIndices: documents.map(\.requestIndex),
      responseChecks: responseChecks, report: verifier.report([], at: rules.now))
    if let simulated, case .refused = verdict.outcome {
      verdict.simulated = SimulatedPresentation(simulated.response, transcript: simulated.transcript, rules: rules)
    }
    return verdict
  }
}

/// One document after every check that needs no external data. `conclude` adds the evidence on revocation.
struct AuthenticatedDocument: Sendable {
  let docType: String
  let checks: CheckList
  /// The deviations in the data that the issuer signed (`Deviation`), each with its member.
  var deviations: [String] = []
  /// The content; nil if the issuer, its signature or the device was not authenticated.
  var content: Content?
  /// The check of revocation. Nil if the policy asks nothing, the issuer is not trusted, or its signature is invalid.
  /// Lists are fetched only from addresses that a trusted issuer signed.
  var revocation: RevocationCheck?
  /// The index of the requested document that this document satisfies; nil if it satisfies none.
  var requestIndex: Int?

  /// The authenticated data.
  final class Content: Sendable {
    let signer: Certificate
    let anchor: TrustAnchor
    /// The validity; nil if a proof hides it.
    let validity: DocumentValidity?
    let method: DeviceAuthenticationMethod
    /// The COSE_Key that the issuer signed; nil if a proof hides it.
    let deviceKey: CBORItem?
    /// The issuer-signed elements with their values, in the order of the response.
    let elements: [ElementReference]
    let items: [CBORItem]
    let deviceSigned: [DeviceSigned.Element]

    init(
      signer: Certificate, anchor: TrustAnchor, validity: DocumentValidity?, method: DeviceAuthenticationMethod,
      deviceKey: CBORItem?, elements: [ElementReference], items: [CBORItem], deviceSigned: [DeviceSigned.Element]
    ) {
      self.signer = signer
      self.anchor = anchor
      self.validity = validity
      self.method = method
      self.deviceKey = deviceKey
      self.elements = elements
      self.items = items
      self.deviceSigned = deviceSigned
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
    guard let content, !report.checks.contains(where: { $0.outcome == .failed }) else {
      return DocumentOutcome(verified: nil, report: report)
    }
    return DocumentOutcome(
      verified: VerifiedDocument(docType: docType, content, revocation: status), report: report)
  }

  /// In strict mode a warning becomes a failure. Warnings about revocation remain warnings, since the relying party
  /// chose to allow an undetermined status.
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

extension AuthenticatedDocument {
  /// - Parameter method: nil if the device was not authenticated.
  init(
    _ document: Document, _ signed: IssuerAuthentication.Signed, method: DeviceAuthenticationMethod?,
    checks: CheckList, policy: RevocationPolicy
  ) {
    self.init(
      docType: document.docType, checks: checks,
      deviations: signed.mso.deviations.map { "issuerSigned.issuerAuth.\($0)" })
    guard let anchor = signed.anchor else { return }
    if let method { content = Content(document, signed, anchor: anchor, method: method) }
    if policy != .off { revocation = RevocationCheck(signed.mso.status, path: signed.path, anchor: anchor) }
  }
}

extension AuthenticatedDocument.Content {
  fileprivate convenience init(
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

/// The result for one document. The result of a rejected document has only checks, and no values.
struct DocumentOutcome {
  /// The verified document; nil if the document is rejected.
  let verified: VerifiedDocument?
  let report: DocumentReport
}
