import Base

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
    let input = try SubmitBody.shape.value(of: body)
    guard let wallet = context.protocols[input.protocolName] else {
      throw try await refusal(address, input.protocolName)
    }
    if wallet.takesTranscriptFromCaller, case .clientSecret = caller {
      throw ServiceError(.apiForbidden, "Answers by `\(wallet.name)` are handed in with an API key.")
    }
    // The address that a wallet answers to says whose page has shown it. From a page nothing would.
    if wallet is any FetchedRequestProtocol, case .clientSecret = caller {
      throw ServiceError(.apiForbidden, "Answers by `\(wallet.name)` are posted by the wallet itself.")
    }
    if input.code != nil, case .apiKey = caller {
      throw ServiceError(.apiForbidden, "`\(WalletResponse.codeHash)` is for the holders of client secrets.")
    }
    let answer = try await decode(input.data, by: wallet, for: address)
    return try await AnswerChallenge(context: context).reply(
      to: answer, by: wallet, of: address, as: caller, code: input.code, claim: claim)
  }

  /// Reads the answer.
  ///
  /// - Throws: `session.protocol_mismatch` if the answer cannot be read and the session, still open, did not offer this
  ///   protocol. Otherwise the error of the decoding.
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

  /// A protocol that this process does not know. Another node of another version may have offered it, and can still take
  /// the answer: nothing is consumed here.
  private func refusal(_ address: SessionAddress, _ protocolName: String) async throws(ServiceError) -> ServiceError {
    let record = try await context.record(at: address)
    if let refusal = record.consumeRefusal(protocolName: protocolName, at: context.clock()) {
      return ServiceError(refusal.code)
    }
    return ServiceError(
      .sessionProtocolMismatch, "The session offers `\(protocolName)`, which this server does not know.")
  }
}
