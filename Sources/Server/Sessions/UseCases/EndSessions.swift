import Base

extension VerificationService {
  /// `POST /v1/verification_sessions/{id}/cancel`: ends a session without a response. With a reason, an app or page
  /// reports the wallet's refusal, which is recorded as an attempt. The session's client secret permits this.
  package func cancel(
    _ id: String, _ body: JSON = [:], as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller) { claim throws(ServiceError) in
      let address = try caller.address(of: id)
      if let reason = try CancelBody.shape.value(of: body).reason {
        return try await refuse(reason.code, address, as: caller, claim)
      }
      guard case .apiKey = caller else {
        throw ServiceError(.apiForbidden, "Without a `reason` this needs an API key with the scope `sessions:write`.")
      }
      let now = clock()
      let transition = try await stored { store throws(StoreError) in try await store.cancel(address, at: now) }
      switch transition {
      case .changed(let record):
        estimates.note(StoreUsage(openSessions: -1), of: address.relyingParty)
        return Reply(json: rendering.json(record), session: address.id)
      case .notFound: throw .sessionNotFound
      case .refused(let record):
        switch record.state(at: now) {
        case .expired: throw ServiceError(.sessionExpired)
        case .redacted: throw ServiceError(.sessionRedacted)
        case .canceled: throw ServiceError(.sessionCanceled)
        default: throw Self.wrongState
        }
      }
    }
  }

  /// Makes a waiting session expire, in test mode only.
  package func expire(_ id: String, as caller: Caller) async throws(ServiceError) {
    guard mode == .test else { throw ServiceError(.apiNotFound) }
    let address = try caller.address(of: id)
    let isExpired = try await stored { store throws(StoreError) in try await store.expire(address, at: clock()) }
    guard !isExpired else { return }
    let state = try await record(at: address).state(at: clock())
    throw state.status == .expired ? ServiceError(.sessionExpired) : Self.wrongState
  }

  /// Records the refusal under the session's first protocol, since the platform does not report the protocol in use.
  private func refuse(
    _ code: Code, _ address: SessionAddress, as caller: Caller, _ claim: IdempotencyClaim?
  ) async throws(ServiceError) -> Reply {
    guard let offer = try await record(at: address).offers.first else { throw ServiceError(.sessionRedacted) }
    guard let wallet = protocols[offer.protocolName] else { throw ServiceError(.apiProtocolUnsupported) }
    do throws(ServiceError) {
      var reply = try await reply(to: .refusal(code), by: wallet, of: address, as: caller, claim: claim)
      // The metrics do not count a refusal, since it is not a response.
      (reply.verification, reply.code) = (nil, nil)
      return reply
    } catch { throw error.code == .sessionAlreadyUsed ? Self.wrongState : error }
  }

  private static let wrongState = ServiceError(
    .sessionWrongState, "Only a session that requires input can be canceled.")

  /// `POST /v1/verification_sessions/{id}/redact`: erases all of a session except ids, times, status and codes.
  package func redact(
    _ id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller) { _ throws(ServiceError) in
      let address = try caller.address(of: id)
      let transition = try await stored { store throws(StoreError) in try await store.redact(address, at: clock()) }
      switch transition {
      // The reply contains no session data, so a redaction need not erase it.
      case .changed(let record), .refused(let record): return Reply(json: rendering.json(record))
      case .notFound: throw .sessionNotFound
      }
    }
  }

  /// Sweeps the store in small portions, so that no caller waits long. Call it every few seconds.
  @discardableResult package func sweep() async throws(ServiceError) -> SweepCount {
    try await stored { store throws(StoreError) in try await store.sweep(at: clock(), limit: Self.sweptPortion) }
  }

  static let sweptPortion = 500

  /// Checks the store and the keys in tokens. Trust is checked elsewhere.
  package func checkReadiness() async throws(ServiceError) {
    try await stored { store throws(StoreError) in try await store.probe() }
    guard await heldKeys().allSatisfy(\.isAvailable) else { throw .keyUnavailable }
  }

  package func usage(of party: RelyingParty) async throws(ServiceError) -> StoreUsage {
    try await lists.take(party.id) { () async throws(StoreError) in try await store.usage(of: party.id, at: clock()) }
  }
}

/// The reason why a wallet sends no response, as far as the app or page knows. Required if the protocol cannot express
/// the reason.
package enum CancelReason: String, Sendable, CaseIterable {
  case declined, unavailable, failed

  /// The recorded code, the same as for a wallet's own error (OpenID4VP 1.0, 8.5).
  var code: Code {
    switch self {
    case .declined: .walletAccessDenied
    case .unavailable: .walletUnavailable
    case .failed: .walletOtherError
    }
  }
}

package struct CancelBody: Equatable, Sendable {
  /// The wallet's reason; nil if the relying party itself ends the session.
  let reason: CancelReason?

  package static let shape = Shape.object(
    "CancelVerificationSession", "The end of a session.", CancelBody.init,
    .optional(
      "reason", \.reason, .choice("CancelReason", "The reason why there is no response."),
      """
      The reason for the missing response, as far as the app or page knows: the person declined, no wallet was \
      available, or it failed. Required with a client secret.
      """))
}
