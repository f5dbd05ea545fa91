import Mdoc
import Primitives

/// Takes a wallet's answer: consume (commit) → open → verify → outcome (commit) → reply.
///
/// What cannot be read as this API's JSON is refused before anything is consumed; from then on every fault is a failed
/// session. If the outcome cannot be committed there is no result: the session will read as interrupted.
struct SubmitAnswer {
  let context: ServiceContext

  func run(
    _ body: JSON, to id: String, as caller: Caller, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    let address = try caller.address(of: id)
    let input = try SubmitInput(parsing: body)
    guard let wallet = context.protocols[input.protocolName] else {
      throw try await refusal(address, input.protocolName)
    }
    if wallet.takesTranscriptFromCaller, case .clientSecret = caller {
      throw ServiceError(.apiForbidden, "Answers by `\(wallet.name)` are handed in with an API key.")
    }
    guard case .answer(let answer) = try wallet.decodeAnswer(input.data) else {
      throw ServiceError(.apiProtocolUnsupported)
    }
    try context.gate.enter()
    defer { context.gate.leave() }
    let taken = try await ConsumeChallenge(context: context).run(address, protocolName: wallet.name)
    let record = taken.record
    let attempt = taken.attempt
    let verdict: Verdict?
    if let request = record.content?.request, let challenge = taken.intoChallenge() {
      let now = context.clock()
      let authentication = wallet.authenticate(
        answer, answering: challenge, request: request, relyingParty: caller.relyingParty,
        verifier: context.verifier(for: caller.relyingParty), at: now)
      let evidence = await context.revocation.evidence(for: authentication.questions, at: now)
      verdict = authentication.conclude(with: evidence)
    } else {
      verdict = nil
    }
    return try await conclude(verdict, record, attempt, as: caller, claim: claim)
  }

  /// A protocol that no session offers: asked with it, the store consumes nothing and says whether there is such a
  /// session at all.
  private func refusal(_ address: SessionAddress, _ protocolName: String) async throws(ServiceError) -> ServiceError {
    do throws(ServiceError) {
      _ = try await ConsumeChallenge(context: context).run(address, protocolName: protocolName)
      return ServiceError(.sessionProtocolMismatch)
    } catch {
      return error
    }
  }

  private func conclude(
    _ verdict: Verdict?, _ record: SessionRecord, _ attempt: AttemptID, as caller: Caller, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    let now = context.clock()
    let conclusion = try Conclusion(verdict, of: record, as: caller, at: now, context: context)
    var after = record
    after.state = conclusion.state
    after.results = conclusion.results
    after.report = conclusion.report
    var reply = OperationReply(
      reply: Reply(200, render(after, conclusion, for: caller, now)), session: record.address.id,
      resultExpiresAt: now + Limits.resultLifetime)
    let outcome = AttemptOutcome(
      address: record.address, attempt: attempt, conclusion: conclusion.recorded, report: conclusion.report)
    let completion = try context.completion(claim, reply)
    let recording: OutcomeRecording
    do {
      recording = try await context.store.recordOutcome(outcome, at: now, finishing: completion)
    } catch {
      throw ServiceError(error)
    }
    switch recording {
    case .recorded:
      reply.isKept = true
    case .superseded(let current?):
      // Redacted meanwhile, or too late: the session is what it is, and nobody gets the result.
      reply.reply = Reply(200, render(current, nil, for: caller, now))
    case .superseded(nil): throw .sessionNotFound
    }
    return reply
  }

  private func render(_ record: SessionRecord, _ conclusion: Conclusion?, for caller: Caller, _ now: Timestamp) -> JSON
  {
    let rendering = SessionRendering(isLive: context.isLive, now: now)
    return switch caller {
    case .apiKey:
      rendering.json(record, result: conclusion?.inlineResult, simulatedResult: conclusion?.simulatedResult)
    case .clientSecret: rendering.clientView(record)
    }
  }
}
