import Base

/// An answer whose own checks are done, waiting for what others say about revocation. Nothing of it can be read.
public struct Authentication: ~Copyable, Sendable {
  /// What to ask; empty where the policy asks nothing, nothing is declared, or no issuer is trusted.
  ///
  /// A call that is never inlined, so that the caller owns what it gets: the optimiser of Swift 6.3 lets a field that
  /// was read out of a noncopyable value die with the value, though the caller still uses it.
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
  /// Kept where the data of a simulated answer are shown beside its refusal.
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
