import Base
import Mdoc

/// One attempt at a session's challenge: consume (commit) → open → verify → outcome (commit).
///
/// From the consumption on every fault is a failed session. If the outcome cannot be committed there is no result: the
/// session will read as interrupted.
struct AnswerChallenge {
  let context: ServiceContext

  /// What came of it.
  struct Attempted {
    /// The session as it is now.
    let record: SessionRecord
    /// Nil where the session ended otherwise meanwhile: redacted, or too late. Nobody then gets a result.
    let conclusion: Conclusion?
    let time: Timestamp
  }

  /// - Parameters:
  ///   - code: the hash of the response code that the browser has made by which the answer came, if it has.
  ///   - completion: the reply to keep in the outcome's own transaction, made of the session as it will be.
  func run(
    _ answer: WalletAnswer, by wallet: any WalletProtocol, to address: SessionAddress, as caller: Caller,
    code: ResponseCodeHash? = nil,
    completion: (SessionRecord, Conclusion, Timestamp) throws(ServiceError) -> IdempotencyCompletion? = {
      _, _, _ throws(ServiceError) in nil
    }
  ) async throws(ServiceError) -> Attempted {
    // A wallet's sender is a stranger, so the session's relying party takes the place.
    let party = Flow(relyingParty: caller.relyingParty.id)
    try context.gate.enter(party)
    defer { context.gate.leave(party) }
    let stages = StageTimer(context.observe)
    let taken = try await ConsumeChallenge(context: context).run(address, protocolName: wallet.name)
    stages.end(.consume)
    let record = taken.record
    let attempt = taken.attempt
    let finding: Conclusion.Finding
    switch answer {
    case .refusal(let code, let description): finding = .refusal(code, description: description)
    case .answer(let content):
      if let request = record.content?.request, let challenge = taken.intoChallenge() {
        let mayHoldProofs = request.documents.contains { $0.proofs != nil }
        // Whoever waits for a turn lends its place to plain answers.
        if mayHoldProofs { await context.gate.lend(of: party) { await context.proofTurns.take(party) } }
        let turn = Deadline.now()
        let now = context.clock()
        let trust = context.trust.current
        var verifier = context.verifier(for: caller.relyingParty, trust: trust)
        verifier.willAuthenticate = { stages.end(.open) }
        var draft = EvidenceDraft(
          of: content, by: wallet, answering: challenge, for: caller.relyingParty, trust: trust, mode: context.mode)
        let authentication = wallet.authenticate(
          content, answering: challenge, request: request, relyingParty: caller.relyingParty,
          verifier: verifier, at: now)
        if mayHoldProofs { context.proofTurns.leave(party, cost: Deadline.now() - turn) }
        stages.end(.verify, unlessOpened: .open)
        let questions = authentication.questions
        // A publisher that hangs holds up nobody but those who ask for its lists.
        let evidence = await context.gate.lend(of: party) {
          await context.revocation.evidence(for: questions, at: now)
        }
        if !questions.isEmpty { stages.end(.revocation) }
        draft?.revocation = EvidenceRevocation(of: questions, answeredBy: evidence, mode: context.mode)
        finding = .verdict(authentication.conclude(with: evidence), draft)
      } else {
        finding = .unreadableChallenge
      }
    }
    let now = context.clock()
    let conclusion = try Conclusion(finding, of: record, as: caller, code: code, at: now, context: context)
    var after = record
    after.state = conclusion.state
    after.results = conclusion.results
    after.report = conclusion.report
    let outcome = AttemptOutcome(
      address: address, attempt: attempt, protocolName: wallet.name, conclusion: conclusion.recorded,
      report: conclusion.report, evidence: conclusion.evidence, result: conclusion.resultPlace)
    let completion = try completion(after, conclusion, now)
    stages.end(.conclude)
    let recording: OutcomeRecording
    do {
      recording = try await context.store.recordOutcome(outcome, at: now, finishing: completion)
    } catch {
      throw ServiceError(error)
    }
    stages.end(.outcome)
    switch recording {
    case .recorded: return Attempted(record: after, conclusion: conclusion, time: now)
    case .superseded(let current?): return Attempted(record: current, conclusion: nil, time: now)
    case .superseded(nil): throw .sessionNotFound
    }
  }
}

extension AnswerChallenge {
  /// Runs the attempt, and makes the reply of whoever handed the answer in, kept in the outcome's own transaction.
  func reply(
    to answer: WalletAnswer, by wallet: any WalletProtocol, of address: SessionAddress, as caller: Caller,
    code: ResponseCodeHash? = nil, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    var reply: OperationReply?
    let attempted = try await run(answer, by: wallet, to: address, as: caller, code: code) {
      record, conclusion, now throws(ServiceError) in
      let made = OperationReply(
        status: 200, body: render(record, conclusion, for: caller, now), session: address.id,
        ending: Reply.Ending(record.state), resultExpiresAt: now + Limits.resultLifetime)
      reply = made
      return try context.completion(claim, made)
    }
    guard var reply, attempted.conclusion != nil else {
      return OperationReply(
        status: 200, body: render(attempted.record, nil, for: caller, attempted.time), session: address.id,
        ending: Reply.Ending(attempted.record.state(at: attempted.time)))
    }
    reply.isKept = true
    return reply
  }

  private func render(_ record: SessionRecord, _ conclusion: Conclusion?, for caller: Caller, _ now: Timestamp) -> JSON
  {
    let rendering = SessionRendering(isLive: context.isLive, now: now)
    return switch caller {
    case .apiKey:
      rendering.json(record, result: conclusion?.inlineResult, simulatedResult: conclusion?.simulatedResult)
    case .clientSecret, .wallet: rendering.clientView(record, responseCode: conclusion?.responseCode)
    }
  }
}
