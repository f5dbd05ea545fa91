import Base

/// What a wallet gets for its answer, and what only this server's own log may say of it.
package struct WalletReply: Sendable {
  /// `{}`, or where the wallet is to send the person: `{"redirect_uri"}`. It is the same whatever the verdict is.
  package let body: JSON
  package let session: SessionID
  package let status: SessionStatus
  /// Of a session that failed, or that the wallet canceled.
  package let code: Code?
}

/// Takes the answer that a wallet posts by itself (`direct_post`, `direct_post.jwt`; OpenID4VP 1.0, 8.2). The result
/// waits, sealed, for the relying party.
struct ReceiveWalletResponse {
  let context: ServiceContext

  /// - Parameter parameters: reads the form's. That costs what its sender likes, so that it comes after the session was
  ///   found to wait for an answer.
  func run(
    _ parameters: () throws(ServiceError) -> JSON, session: String, of relyingParty: String
  ) async throws(ServiceError) -> WalletReply {
    let address = try await WalletAddress(session, of: relyingParty, context: context)
    if let refusal = address.record.consumeRefusal(protocolName: address.wallet.name, at: context.clock()) {
      throw ServiceError(refusal.code)
    }
    let answer = try decode(parameters(), by: address.wallet)
    let id = address.record.address.id
    let attempted = try await AnswerChallenge(context: context).run(
      answer, by: address.wallet, to: address.record.address, as: .wallet(id, of: address.relyingParty))
    let state = attempted.record.state(at: attempted.time)
    return WalletReply(
      body: .members(["redirect_uri": redirect(attempted).map { .string($0) }]), session: id, status: state.status,
      code: state.lastError.flatMap { Code(rawValue: $0.code) })
  }

  private func redirect(_ attempted: AnswerChallenge.Attempted) -> String? {
    guard let uri = attempted.record.content?.redirectURI, let code = attempted.conclusion?.responseCode else {
      return nil
    }
    return uri + "#response_code=" + code.text
  }

  /// The protocol speaks of `data`, which here is the form.
  private func decode(
    _ parameters: JSON, by wallet: any WalletProtocol
  ) throws(ServiceError) -> WalletAnswer {
    do throws(ServiceError) {
      return try wallet.decodeAnswer(parameters)
    } catch {
      let prefix = "/data"
      let pointers = error.pointers.map { pointed in
        let isInside = pointed.pointer == prefix || pointed.pointer.hasPrefix(prefix + "/")
        return ServiceError.PointedDetail(
          pointer: isInside ? String(pointed.pointer.dropFirst(prefix.count)) : pointed.pointer,
          detail: pointed.detail)
      }
      throw ServiceError(error.code, error.detail, pointers: pointers, retryAfter: error.retryAfter)
    }
  }
}
