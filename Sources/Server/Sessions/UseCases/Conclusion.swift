import Base
import Cryptography
import Mdoc

/// What an attempt becomes: the session's next state, its report, and who gets the result and how.
///
/// - An API key with `results:read` gets it in the reply; it is then not stored.
/// - After a client secret's submit, and after a wallet's own, it waits, sealed, for at most ten minutes.
/// - Where the relying party's policy retains results, the part that was requested with `intent_to_retain` is kept
///   sealed besides, each value until its day.
/// - Where it asks for evidence, a bundle is sealed, if all that was disclosed may be kept.
/// - A refused answer has no result at all, and a wallet's own refusal no report either: nothing was checked.
struct Conclusion {
  /// What the attempt found.
  enum Finding {
    /// With what evidence is made of, where the policy asks for it.
    case verdict(Verdict, EvidenceDraft?)
    /// The wallet will not answer, and says why in its own words.
    case refusal(Code, description: String?)
    /// The challenge does not open with the configured sealing keys.
    case unreadableChallenge
  }

  let state: SessionState
  let results: SealedResults
  let report: ReportRecord?
  /// The sealed bundle.
  let evidence: [UInt8]?
  let inlineResult: JSON?
  /// Test mode's look at what a simulator answered; never in live mode, never stored.
  let simulatedResult: JSON?
  /// For whoever answered a session that was reached by a link, whatever came of the answer; it opens the result, if
  /// there is one.
  let responseCode: ResponseCode?

  var resultPlace: ResultPlace? { results.waiting != nil ? .waiting : inlineResult.map { _ in .inline } }

  var recorded: AttemptOutcome.Conclusion {
    switch state {
    case .failed(let error, _): .failed(error)
    case .canceled(_, let error?): .canceled(error)
    default: .verified(results)
    }
  }

  init(
    _ finding: Finding, of record: SessionRecord, as caller: Caller, code: ResponseCodeHash?, at now: Timestamp,
    context: ServiceContext
  ) throws(ServiceError) {
    let responseCode: ResponseCode?
    do {
      responseCode =
        try Self.givesCode(record, to: caller, own: code, publicURL: context.publicURL) ? .random() : nil
    } catch {
      throw .cryptoFailed
    }
    let code = responseCode?.hash ?? code
    let verdict: Verdict
    let draft: EvidenceDraft?
    switch finding {
    case .unreadableChallenge:
      self.init(.failed(.interrupted, at: now), nil, responseCode: responseCode)
      return
    case .refusal(let code, let description):
      let error = LastError([Reason(code)], walletDescription: description)
      self.init(.canceled(at: now, lastError: error), nil, responseCode: responseCode)
      return
    case .verdict(let found, let kept): (verdict, draft) = (found, kept)
    }
    let report = ReportRecord(verdict.report, id: ReportID(of: record.address.id))
    switch verdict.outcome {
    case .refused(let reasons) where reasons.contains(where: \.code.isWalletRefusal):
      // It came encrypted, so that it was found only now.
      let error = LastError(reasons, walletDescription: verdict.walletDescription)
      self.init(.canceled(at: now, lastError: error), report, responseCode: responseCode)
    case .refused(let reasons):
      let isShown = context.mode == .test && caller.has(.resultsRead)
      self.init(
        .failed(LastError(reasons), at: now), report,
        simulatedResult: isShown ? verdict.simulated.map(ResultRendering.json) : nil, responseCode: responseCode)
    case .accepted(let presentation):
      let id = record.address.id
      var results = SealedResults.none
      switch caller {
      case .apiKey: break
      case .clientSecret, .wallet:
        results.expiresAt = now + Limits.resultLifetime
        results.waiting = try context.seal(
          KeptResult.encode(ResultRendering.json(presentation), for: code), .result(id))
      }
      var parts: [KeptValues.Part] = []
      if caller.relyingParty.policies.retainsResults {
        for (retention, values) in ResultRendering.retained(presentation) {
          let sealed = try context.seal(KeptResult.encode(values, for: code), .retainedResult(id))
          parts.append(KeptValues.Part(eraseAt: now + retention.seconds, sealed: sealed))
        }
      }
      var bundle: [UInt8]?
      if let draft, let request = record.content?.request {
        (results.evidence, bundle) = try draft.evidence(
          of: presentation, report, session: id, request: request, relyingParty: caller.relyingParty, context: context)
      }
      results.kept = KeptValues(
        parts: parts, evidenceUntil: bundle == nil ? nil : now + presentation.retention.seconds)
      self.init(
        .verified(at: now), report, results, evidence: bundle,
        inlineResult: caller.has(.resultsRead) ? ResultRendering.json(presentation) : nil, responseCode: responseCode)
    }
  }

  private init(
    _ state: SessionState, _ report: ReportRecord?, _ results: SealedResults = .none, evidence: [UInt8]? = nil,
    inlineResult: JSON? = nil, simulatedResult: JSON? = nil, responseCode: ResponseCode?
  ) {
    self.state = state
    self.report = report
    self.results = results
    self.evidence = evidence
    self.inlineResult = inlineResult
    self.simulatedResult = simulatedResult
    self.responseCode = responseCode
  }

  /// Whether the answer to a session that was reached by a link, which may have been an attacker's, gets a new response
  /// code. An API key's holder knows whose answer it submits, and needs none.
  ///
  /// - Parameter own: the hash of the code that the answering browser has made itself. A wallet that is redirected gets
  ///   one in its place: that binds the answer to its own device.
  private static func givesCode(
    _ record: SessionRecord, to caller: Caller, own: ResponseCodeHash?, publicURL: String?
  ) -> Bool {
    guard let content = record.content else { return false }
    let returns = content.redirectURI != nil || content.page?.returnURL != nil
    return switch caller {
    case .apiKey: false
    case .wallet: content.redirectURI != nil || own == nil && returns
    // Only the hosted page can answer a request for its own origin.
    case .clientSecret: own == nil && (returns || content.page != nil && content.origin == publicURL)
    }
  }
}

extension Retention {
  /// From the verification to the erasure; where nothing was said, as long as a session's record is kept.
  fileprivate var seconds: Int64 {
    switch self {
    case .none: 0
    case .days(let days): Int64(days) * 86_400
    case .unspecified: Limits.sessionRetention
    }
  }
}

extension Code {
  /// Whether it is a wallet's own word that there will be no answer, and no fault of an answer.
  var isWalletRefusal: Bool { Self.walletRefusals.contains(self) }

  private static let walletRefusals: Set<Code> = [
    .walletAccessDenied, .walletInvalidRequest, .walletInvalidClient, .walletFormatsNotSupported,
    .walletInvalidRequestURIMethod, .walletInvalidTransactionData, .walletUnavailable, .walletOtherError,
  ]
}

/// A part of the way of one answer, from its challenge's consumption to its outcome's commit.
package enum VerificationStage: String, Sendable, Hashable, CaseIterable {
  /// The challenge is taken and the commit waited for.
  case consume
  /// The envelope is opened and the response parsed.
  case open
  /// Signatures, digests, trust.
  case verify
  /// Publishers of revocation are asked; answers that name none have no such stage.
  case revocation
  /// The rules of acceptance, the result and its sealing.
  case conclude
  /// The outcome is recorded and the commit waited for.
  case outcome
}

/// Tells how long each stage of one attempt took.
final class StageTimer: Sendable {
  private struct State {
    var start = ContinuousClock.now
    var last: VerificationStage?
  }

  private let state = Locked(State())
  private let observe: @Sendable (VerificationStage, Double) -> Void

  init(_ observe: @escaping @Sendable (VerificationStage, Double) -> Void) { self.observe = observe }

  /// Ends a stage, which began where the one before it ended. A second end of the same stage does nothing.
  func end(_ stage: VerificationStage) {
    let now = ContinuousClock.now
    let seconds = state.withLock { state -> Double? in
      guard state.last != stage else { return nil }
      defer { state = State(start: now, last: stage) }
      return (now - state.start) / .seconds(1)
    }
    if let seconds { observe(stage, seconds) }
  }

  /// Ends a stage, or the stage before it if that has not ended: an answer that does not open is never verified.
  func end(_ stage: VerificationStage, unlessOpened before: VerificationStage) {
    end(state.withLock { $0.last } == before ? stage : before)
  }
}
