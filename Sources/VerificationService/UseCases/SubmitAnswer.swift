import Primitives

/// Takes a wallet's answer from whoever holds an API key or the session's client secret.
///
/// What cannot be read as this API's JSON is refused before anything is consumed; from then on every fault is a failed
/// session, and a wallet's own refusal a canceled one.
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
    // From a page they would make a result that is read without the response code, which only the wallet brings back.
    if wallet is any FetchedRequestProtocol, case .clientSecret = caller {
      throw ServiceError(.apiForbidden, "Answers by `\(wallet.name)` are posted by the wallet itself.")
    }
    let answer = try await decode(input.data, by: wallet, for: address)
    var reply: OperationReply?
    let attempted = try await AnswerChallenge(context: context).run(answer, by: wallet, to: address, as: caller) {
      record, conclusion, now throws(ServiceError) in
      let made = OperationReply(
        reply: Reply(200, render(record, conclusion, for: caller, now)), session: address.id,
        resultExpiresAt: now + Limits.resultLifetime)
      reply = made
      return try context.completion(claim, made)
    }
    guard var reply, attempted.conclusion != nil else {
      let body = render(attempted.record, nil, for: caller, attempted.time)
      return OperationReply(reply: Reply(200, body), session: address.id)
    }
    reply.isKept = true
    return reply
  }

  /// What another protocol's session was asked for is no malformed answer: it is an answer in the wrong place.
  private func decode(
    _ data: JSON, by wallet: any WalletProtocol, for address: SessionAddress
  ) async throws(ServiceError) -> WalletAnswer {
    do throws(ServiceError) {
      return try wallet.decodeAnswer(data)
    } catch {
      let record = try? await context.record(at: address)
      let refusal = record?.consumeRefusal(protocolName: wallet.name, at: context.clock())
      throw refusal == .protocolMismatch ? ServiceError(.sessionProtocolMismatch) : error
    }
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
