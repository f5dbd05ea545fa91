import Base

/// Ends a session that nobody has answered yet; its challenge and its client secret are then dead.
///
/// With a reason it is the wallet's word that there will be no answer, which an app or page passes on: it is recorded as
/// an attempt, as a web wallet's error is, and the session's client secret is enough for it.
struct CancelSession {
  let context: ServiceContext

  func run(
    _ id: String, _ body: JSON, as caller: Caller, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    let address = try caller.address(of: id)
    if let reason = try CancelBody.shape.value(of: body).reason {
      return try await report(reason.code, of: address, as: caller, claim: claim)
    }
    guard case .apiKey = caller else {
      throw ServiceError(.apiForbidden, "Without a `reason` this needs an API key with the scope `sessions:write`.")
    }
    let now = context.clock()
    let transition: Transition
    do { transition = try await context.store.cancel(address, at: now) } catch { throw ServiceError(error) }
    switch transition {
    case .changed(let record):
      context.usage.note(StoreUsage(openSessions: -1), of: address.relyingParty)
      return OperationReply(
        status: 200, body: SessionRendering(isLive: context.isLive, now: now).json(record), session: address.id)
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

  /// Recorded under the session's first protocol: which of several was asked, the platform does not say.
  private func report(
    _ code: Code, of address: SessionAddress, as caller: Caller, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> OperationReply {
    let record = try await context.record(at: address)
    guard let offer = record.offers.first else { throw ServiceError(.sessionRedacted) }
    guard let wallet = context.protocols[offer.protocolName] else { throw ServiceError(.apiProtocolUnsupported) }
    do throws(ServiceError) {
      return try await AnswerChallenge(context: context)
        .reply(to: .refusal(code), by: wallet, of: address, as: caller, claim: claim)
    } catch {
      throw error.code == .sessionAlreadyUsed ? Self.wrongState : error
    }
  }

  private static let wrongState = ServiceError(
    .sessionWrongState, "Only a session that requires input can be canceled.")
}

/// What a wallet told the app or page that asked it, where its protocol has no word of its own for that.
package enum CancelReason: String, Sendable, CaseIterable {
  case declined, unavailable, failed

  /// As a wallet's own error (OpenID4VP 1.0, 8.5) is recorded.
  var code: Code {
    switch self {
    case .declined: .walletAccessDenied
    case .unavailable: .walletUnavailable
    case .failed: .walletOtherError
    }
  }
}

/// The body of `POST …/{id}/cancel`.
package struct CancelBody: Equatable, Sendable {
  /// Nil where the relying party itself ends the session.
  let reason: CancelReason?

  package static let shape = Shape.object(
    "CancelVerificationSession", "Why a session ends.", CancelBody.init,
    .optional(
      "reason", \.reason, .choice("CancelReason", "Why there is no response."),
      """
      Why there is no response, as the app or page knows: the person declined, no wallet was available, or it \
      failed. Required with a client secret.
      """))
}

/// Erases everything of a session but ids, times, status and codes, in whatever state it is. An answer that is being
/// verified comes to nothing. Doing it twice is no error.
struct RedactSession {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> OperationReply {
    let address = try caller.address(of: id)
    let now = context.clock()
    let transition: Transition
    do { transition = try await context.store.redact(address, at: now) } catch { throw ServiceError(error) }
    switch transition {
    case .changed(let record), .refused(let record):
      // Of no session: nothing is left in it that a redaction would have to erase.
      return OperationReply(status: 200, body: SessionRendering(isLive: context.isLive, now: now).json(record))
    case .notFound: throw .sessionNotFound
    }
  }
}

/// Lets the store catch up with time, in portions small enough that no caller waits long behind one.
struct SweepSessions {
  static let portion = 500
  let context: ServiceContext

  func run() async throws(ServiceError) -> SweepCount {
    do {
      return try await context.store.sweep(at: context.clock(), limit: Self.portion)
    } catch {
      throw ServiceError(error)
    }
  }
}
