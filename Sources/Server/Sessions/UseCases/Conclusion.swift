import Base
import Cryptography
import Mdoc
import Trust

/// The outcome of an attempt: the session's next state, its report, and the delivery of its result.
///
/// - A caller with an API key and `results:read` gets the result in the reply. The result is then not stored.
/// - If a wallet or the holder of a client secret submits the response, the sealed result waits for at most ten
///   minutes.
/// - If the relying party's policy retains results, the part requested with `intent_to_retain` is also kept sealed.
/// - If the policy asks for evidence and everything disclosed may be retained, a bundle is sealed.
/// - A rejected response has no result. A wallet's own refusal has no report either, since nothing was checked.
struct Conclusion {
  enum Finding {
    /// A verdict, with draft evidence if the policy asks for it.
    case verdict(Verdict, EvidenceDraft?)
    /// The wallet's refusal, with the wallet's own description.
    case refusal(Code, description: String?)
    case unreadableChallenge
  }

  let state: SessionState
  private(set) var results = SealedResults.none
  private(set) var report: ReportRecord?
  private(set) var evidence: [UInt8]?
  private(set) var inlineResult: JSON?
  /// A simulator's response, only in test mode. It is never stored.
  private(set) var simulatedResult: JSON?
  /// The response code for the submitter, if the session was opened by a link. Reading the result, if any, requires the
  /// code.
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
    service: VerificationService
  ) throws(ServiceError) {
    do {
      responseCode = try Self.givesCode(record, to: caller, own: code, publicURL: service.publicURL) ? .random() : nil
    } catch { throw .cryptoFailed }
    switch finding {
    case .unreadableChallenge: state = .failed(.interrupted, at: now)
    case .refusal(let code, let description):
      state = .canceled(at: now, lastError: LastError([Reason(code)], walletDescription: description))
    case .verdict(let verdict, let draft):
      let report = ReportRecord(verdict.report, id: ReportID(of: record.address.id))
      self.report = report
      switch verdict.outcome {
      case .refused(let reasons) where reasons.contains(where: \.code.isWalletRefusal):
        // The refusal was encrypted, so it was not detected earlier.
        state = .canceled(at: now, lastError: LastError(reasons, walletDescription: verdict.walletDescription))
      case .refused(let reasons):
        state = .failed(LastError(reasons), at: now)
        if service.mode == .test, caller.has(.resultsRead) {
          simulatedResult = verdict.simulated.map(ResultRendering.json)
        }
      case .accepted(let presentation):
        state = .verified(at: now)
        if caller.has(.resultsRead) { inlineResult = ResultRendering.json(presentation) }
        results = try Self.kept(presentation, of: record, as: caller, responseCode?.hash ?? code, now, service)
        guard let draft, let request = record.content?.request else { return }
        (results.evidence, evidence) = try draft.evidence(
          of: presentation, report, session: record.address.id, request: request, relyingParty: caller.relyingParty,
          service: service)
        guard evidence != nil else { return }
        results.kept = KeptValues(parts: results.kept.parts, evidenceUntil: now + presentation.retention.seconds)
      }
    }
  }

  /// Seals the waiting result and the retained values.
  private static func kept(
    _ presentation: AcceptedPresentation, of record: SessionRecord, as caller: Caller, _ code: ResponseCodeHash?,
    _ now: Timestamp, _ service: VerificationService
  ) throws(ServiceError) -> SealedResults {
    let id = record.address.id
    var results = SealedResults.none
    switch caller {
    case .apiKey: break
    case .clientSecret, .wallet:
      results.expiresAt = now + Limits.resultLifetime
      results.waiting = try service.seal(KeptResult.encode(ResultRendering.json(presentation), for: code), .result(id))
    }
    guard caller.relyingParty.policies.retainsResults else { return results }
    var parts: [KeptValues.Part] = []
    for (retention, values) in ResultRendering.retained(presentation) {
      let sealed = try service.seal(KeptResult.encode(values, for: code), .retainedResult(id))
      parts.append(KeptValues.Part(eraseAt: now + retention.seconds, sealed: sealed))
    }
    results.kept = KeptValues(parts: parts)
    return results
  }

  /// True if the reply to the response gets a new response code. A session opened by a link needs a code, since an
  /// attacker may have sent the link. The holder of an API key needs no code, since it knows the source of the
  /// response.
  /// - Parameter own: the hash of the browser's own code. A redirected wallet gets a new code instead, which binds the
  ///   response to the wallet's own device.
  private static func givesCode(
    _ record: SessionRecord, to caller: Caller, own: ResponseCodeHash?, publicURL: String?
  ) -> Bool {
    guard let content = record.content else { return false }
    let returns = content.redirectURI != nil || content.page?.returnURL != nil
    return switch caller {
    case .apiKey: false
    case .wallet: content.redirectURI != nil || own == nil && returns
    // Only the hosted page can get a response to a request for its own origin.
    case .clientSecret: own == nil && (returns || content.page != nil && content.origin == publicURL)
    }
  }
}

extension Retention {
  /// The time from verification to erasure. If unspecified, it is the retention period of the session's record.
  fileprivate var seconds: Int64 {
    switch self {
    case .none: 0
    case .days(let days): Int64(days) * 86_400
    case .unspecified: Limits.sessionRetention
    }
  }
}

extension Code { var isWalletRefusal: Bool { CodeGroup.walletRefusals.codes.contains(self) } }

/// A stage of one attempt, from the consumption of the challenge to the commit of the outcome.
package enum VerificationStage: String, Sendable, Hashable, CaseIterable {
  /// Consumes the challenge and waits for the commit.
  case consume
  /// Opens the envelope and parses the response.
  case open
  case verify
  /// Fetches the revocation status from publishers. This stage is absent if the response has no publisher's address.
  case revocation
  /// Applies the acceptance rules, and makes and seals the result.
  case conclude
  /// Records the outcome and waits for the commit.
  case outcome
}

final class StageTimer: Sendable {
  private struct State {
    var start = ContinuousClock.now
    var last: VerificationStage?
  }

  private let state = Locked(State())
  private let observe: @Sendable (VerificationStage, Double) -> Void

  init(_ observe: @escaping @Sendable (VerificationStage, Double) -> Void) { self.observe = observe }

  /// Ends a stage, which began when the previous stage ended. Does nothing if the stage has already ended.
  func end(_ stage: VerificationStage) {
    let now = ContinuousClock.now
    let seconds = state.withLock { state -> Double? in
      guard state.last != stage else { return nil }
      defer { state = State(start: now, last: stage) }
      return (now - state.start) / .seconds(1)
    }
    if let seconds { observe(stage, seconds) }
  }

  /// Ends a stage. If the response was not opened, ends the previous stage instead.
  func end(_ stage: VerificationStage, unlessOpened before: VerificationStage) {
    end(state.withLock { $0.last } == before ? stage : before)
  }
}

/// The evidence of an attempt, gathered during its verification. It is sealed only if the response is accepted.
struct EvidenceDraft: Sendable {
  private let key: EvidenceKey
  private let trust: TrustStore
  private let wallet: any WalletProtocol
  private let response: WalletResponse.Content
  private let requestData: JSONText
  private let material: SharedSecret
  private let opening = Locked<SharedSecret?>(nil)
  var revocation: EvidenceRevocation

  /// Returns nil if the relying party's policy asks for none.
  init?(
    of response: WalletResponse.Content, by wallet: any WalletProtocol, to challenge: borrowing ConsumedChallenge,
    for relyingParty: RelyingParty, trust: TrustStore, mode: ServerMode
  ) {
    guard let key = relyingParty.policies.evidenceKey else { return nil }
    self.key = key
    self.trust = trust
    self.wallet = wallet
    self.response = response
    requestData = challenge.requestData
    material = SharedSecret(copying: challenge.material)
    revocation = EvidenceRevocation(mode: mode)
  }

  var didOpen: @Sendable (SharedSecret) -> Void { { [opening] secret in opening.withLock { $0 = secret } } }

  /// The sealed bundle, or the reason why there is none.
  func evidence(
    of presentation: AcceptedPresentation, _ report: ReportRecord, session: SessionID, request: PresentationRequest,
    relyingParty: RelyingParty, service: VerificationService
  ) throws(ServiceError) -> (status: EvidenceStatus, bundle: [UInt8]?) {
    guard presentation.retention.isIntended else { return (.declined, nil) }
    let anchors = Set(presentation.documents.map(\.issuer.anchorSHA256))
    let sealed: [UInt8]
    do {
      let bundle = EvidenceBundle(
        mode: service.mode, session: session, relyingParty: relyingParty.id, protocolName: wallet.name,
        request: request, requestData: requestData, material: material, response: response,
        openingSecret: opening.withLock { $0 }, clockSkew: service.configuration.clockSkew,
        trust: try TrustExcerpt(of: trust, anchors: anchors), revocation: revocation, report: report,
        acceptsEndOfDay: service.configuration.proofs?.acceptsEndOfDay ?? false)
      let content = bundle.json.serialized()
      // Read the bundle back before sealing it: a fault found later cannot be corrected.
      guard let json = try? JSON(parsing: content, values: .max), EvidenceBundle(json) != nil else {
        return (.tooLarge, nil)
      }
      sealed = try key.seal(content)
    } catch { throw ServiceError(.apiInternal, "The evidence could not be sealed.") }
    return sealed.count > Limits.evidenceBytes ? (.tooLarge, nil) : (.kept, sealed)
  }
}
