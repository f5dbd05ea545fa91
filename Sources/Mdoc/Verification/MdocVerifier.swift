import Primitives

/// Verifies opened answers: issuer authentication, digests, validity, device authentication, and the request.
///
/// It does no I/O, reads no clock and makes no random bytes. What is wrong with a document is returned, all of it.
public struct MdocVerifier: Sendable {
  public var trust: any IssuerTrust
  /// Seconds by which clocks may differ: widens validFrom, validUntil, signed-in-the-future and the validity of
  /// certificates, and nothing else.
  public var clockSkew: Int64
  /// Whether findings of the certificate and data profiles reject.
  public var isStrict: Bool

  public init(trust: any IssuerTrust, clockSkew: Int64 = Limits.clockSkew, isStrict: Bool = false) {
    self.trust = trust
    self.clockSkew = max(0, clockSkew)
    self.isStrict = isStrict
  }

  /// Verifies everything about the answer and decides it by the request.
  ///
  /// - Parameters:
  ///   - request: what was asked; nil accepts every verified element of every verified document.
  ///   - earlierChecks: what the protocol already checked, for the report.
  public func verify(
    _ presented: consuming PresentedResponse, request: PresentationRequest?, at now: Timestamp,
    earlierChecks: [Check] = []
  ) -> Verdict {
    let presented = presented
    var responseChecks = CheckList(expecting: 32)
    responseChecks.append(earlierChecks)
    ResponseCheck(response: presented.response, request: request, maxDocuments: presented.maxDocuments)
      .run(into: &responseChecks)

    var outcomes: [DocumentOutcome] = []
    for document in presented.response.documents {
      let verification = DocumentVerification(
        document: document, transcript: presented.transcript, macPolicy: presented.macPolicy, verifier: self, now: now)
      outcomes.append(
        verification.run(request: request, recognizesAppleMocks: presented.recognizesAppleMocks))
    }
    let acceptance = AcceptanceRules(
      request: request, isStrict: isStrict, fallsBackToAgeInYears: presented.fallsBackToAgeInYears)
    var verdict = acceptance.decide(
      outcomes, responseChecks: responseChecks, verifiedAt: now, trustSnapshot: trust.snapshot)
    if presented.showsSimulatedAnswers, case .refused = verdict.outcome {
      verdict.simulated = SimulatedPresentation(
        presented.response, transcript: presented.transcript, request: request)
    }
    return verdict
  }

  /// The verdict on an answer that could not be opened or read.
  public func refuse(_ checks: [Check], at now: Timestamp) -> Verdict {
    .refused(VerificationReport(verifiedAt: now, trustSnapshot: trust.snapshot, checks: checks))
  }
}

/// What verifying one document came to. `rejected` carries no values, only checks.
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
