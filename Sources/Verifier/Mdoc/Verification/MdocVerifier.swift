import Base
import PKIX

/// Verifies opened answers: issuer authentication, digests, validity, device authentication, and the request.
///
/// It does no I/O, makes no random bytes, and reads no clock except to measure proofs for `didVerifyProof`. Its report
/// lists every failed check, not only the first.
public struct MdocVerifier: Sendable {
  public var trust: any IssuerTrust
  /// Seconds by which clocks may differ. It widens validFrom, validUntil, the check that nothing is signed in the
  /// future, and the validity of certificates, and nothing else.
  public var clockSkew: Int64
  /// Whether findings of the certificate and data profiles reject.
  public var isStrict: Bool
  /// What must be known about revocation.
  public var revocation: RevocationPolicy
  /// By what zero-knowledge proofs are verified; nil if none are.
  public var proofs: ProofPolicy?
  /// Called when an answer is open and its documents are about to be checked; for measurements of time.
  public var willAuthenticate: (@Sendable () -> Void)?
  /// Called when a zero-knowledge proof has been computed through; for counts and measurements of time.
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

  /// Checks everything about the answer that needs nothing from outside, and lists what must be asked before it can be
  /// concluded.
  ///
  /// - Parameters:
  ///   - request: what was asked; nil accepts every verified element of every verified document.
  ///   - earlierChecks: what the protocol already checked, for the report.
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
        part: part, request: request, maxDocuments: presented.maxDocuments, readsProofs: readsProofs(of: request),
        isStrict: isStrict
      ).run(into: &responseChecks)
    }
    var matching = RequestMatching(request)
    let plain = presented.parts.flatMap { part in part.response.documents.map { (document: $0, query: part.query) } }
    var documents = plain.enumerated().map { index, item in
      // All documents are signed over the same transcript, so only the first is tried with the alternatives. Trying
      // them all on every document would let anyone who may answer make us check thousands of signatures, on the curve
      // of their choice.
      let verification = DocumentVerification(
        document: item.document, transcript: presented.transcript, macPolicy: presented.macPolicy,
        alternatives: index == 0 ? presented.alternatives : [], verifier: self, now: now)
      var document = verification.run(request: request, recognizesAppleMocks: presented.recognizesAppleMocks)
      document.requestIndex = matching.match(document.docType, answering: item.query)
      return document
    }
    let slips = documents.enumerated().flatMap { index, document in document.slips.map { "documents[\(index)].\($0)" } }
    if !slips.isEmpty { ResponseCheck.note(slips, isStrict: isStrict, into: &responseChecks) }
    let proofs = presented.parts.flatMap { part in part.response.zkDocuments.map { (item: $0, query: part.query) } }
    for (item, query) in readsProofs(of: request) ? proofs : [] {
      let index = ZkDocument.docType(of: item).flatMap { matching.match($0, answering: query) }
      let verification = ProofVerification(
        item: item, transcript: presented.transcript, request: request, requestIndex: index, verifier: self, now: now)
      // Proofs are dear, so the first thing that is wrong ends their verification.
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

  /// Whether the request asks for proofs. Without a request, whether the verifier can verify them.
  func readsProofs(of request: PresentationRequest?) -> Bool {
    request?.documents.contains { $0.proofs != nil } ?? (proofs != nil)
  }

  /// Every check of an answer as a whole, and then of each of its documents, in the order in which they are made. The
  /// first failed check names the refusal, so this order is part of what a refusal means. A protocol's checks of its
  /// envelope come before these. Bytes that can't be read are reported where they are met.
  static let responseChecks: [Code] = ResponseCheck.codes + [.documentMissing, .nothingDisclosed]
  static let documentChecks: [Code] = DocumentVerification.codes + RevocationCheck.codes + AcceptanceRules.codes
  static let proofChecks: [Code] = ProofVerification.codes + RevocationCheck.codes + AcceptanceRules.codes

  /// Refuses an answer that could not be opened or read. It asks no questions about revocation.
  ///
  /// - Parameter walletDescription: what the wallet says of its own error, fit to be shown.
  public func refuse(_ checks: [Check], walletDescription: String? = nil, at now: Timestamp) -> Authentication {
    var verdict = Verdict.refused(
      VerificationReport(
        verifiedAt: now, trustSnapshot: trust.snapshot, revocationPolicy: revocation, checks: checks))
    verdict.walletDescription = walletDescription
    return Authentication(decided: verdict)
  }
}

/// Finds the document of the request that a returned document answers. Each is answered once.
private struct RequestMatching {
  private let request: PresentationRequest?
  private var answered: Set<Int> = []

  init(_ request: PresentationRequest?) { self.request = request }

  /// - Parameter query: the query whose id the response has. Without one, the second document of a type answers the second
  /// request for that type.
  /// - Returns: an index in the request; nil if nothing that is unanswered asks for the type.
  mutating func match(_ docType: String, answering query: PresentedResponse.Query?) -> Int? {
    let index = request?.documents.indices.first { index in
      (query == nil || query?.index == index) && !answered.contains(index)
        && request?.documents[index].docType.hasSameBytes(as: docType) == true
    }
    if let index { answered.insert(index) }
    return index
  }
}

/// The result of verifying one document. `rejected` carries no values, only checks.
public enum DocumentOutcome: Sendable {
  case verified(VerifiedDocument, DocumentReport)
  case rejected(DocumentReport)

  var isVerified: Bool { if case .verified = self { true } else { false } }

  var docType: String {
    switch self {
    case .verified(let document, _): document.docType
    case .rejected(let report): report.docType
    }
  }

  var report: DocumentReport {
    switch self {
    case .verified(_, let report), .rejected(let report): report
    }
  }
}

/// Decides who may sign documents of which type. The trust store implements it.
public protocol IssuerTrust: Sendable {
  /// SHA-256 of everything that decides about trust, in hexadecimal.
  var snapshot: String { get }

  /// Validates a document signer's chain for a document type.
  func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation
}
