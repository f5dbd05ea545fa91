import Base

extension AnswerChallenge {
  /// Runs the attempt, and makes the reply of whoever handed the answer in, kept in the outcome's own transaction.
  func reply(
    to answer: WalletAnswer, by wallet: any WalletProtocol, of address: SessionAddress, as caller: Caller,
    claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    var reply: OperationReply?
    let attempted = try await run(answer, by: wallet, to: address, as: caller) {
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
    case .clientSecret, .wallet: rendering.clientView(record)
    }
  }
}
