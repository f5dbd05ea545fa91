import Base
import Cryptography
import Mdoc
import Presentation

/// The session behind an address that a wallet was given, with the protocol that gave it.
///
/// Wallets have no credential: they know the session's name in their addresses. Whatever is unknown, somebody else's or
/// not for wallets to call answers alike.
struct WalletAddress {
  let record: SessionRecord
  let relyingParty: RelyingParty
  let wallet: any FetchedRequestProtocol
  /// The hash of the response code of the page whose link or QR code the wallet followed.
  let code: ResponseCodeHash?

  init(_ session: String, of relyingParty: String, context: ServiceContext) async throws(ServiceError) {
    guard let party = context.relyingParties[relyingParty], let path = WalletPath(session) else {
      throw .sessionNotFound
    }
    code = path.code
    record = try await context.record(at: SessionAddress(relyingParty: party.id, id: path.session))
    if case .redacted = record.state { throw ServiceError(.sessionRedacted) }
    // A session offers one such protocol at most.
    let wallets = record.offers.lazy.compactMap { context.protocols[$0.protocolName] as? any FetchedRequestProtocol }
    guard let wallet = wallets.first else { throw .sessionNotFound }
    self.wallet = wallet
    self.relyingParty = party
  }

  /// What the wallet's protocol keeps of the challenge, opened.
  func material(_ context: ServiceContext) throws(ServiceError) -> SecretBytes {
    guard let sealed = record.offers.first(where: { $0.protocolName == wallet.name })?.sealedMaterial,
      let opened = try? context.sealer.open(sealed, .challenge(record.address.id, protocolName: wallet.name))
    else { throw ServiceError(.apiInternal, "A sealed record does not open with the configured keys.") }
    return opened
  }
}

/// What a session asks, for a mock wallet to answer.
package struct PendingRequest: Sendable {
  package let session: SessionID
  package let protocolName: String
  package let data: JSON
  package let request: PresentationRequest
  package let relyingParty: RelyingParty
  package let origin: String?
}

/// Test mode's way to a mock answer; the other modes have none.
struct GetPendingRequest {
  let context: ServiceContext

  func run(_ id: String, by protocolName: String?, as caller: Caller) async throws(ServiceError) -> PendingRequest {
    guard context.mode == .test else { throw ServiceError(.apiNotFound) }
    try caller.require(.sessionsWrite)
    let record = try await context.record(at: try caller.address(of: id))
    guard let content = record.content, let first = record.offers.first else { throw ServiceError(.sessionRedacted) }
    guard let offer = record.offers.first(where: { $0.protocolName == protocolName ?? first.protocolName }) else {
      throw ServiceError(.sessionProtocolMismatch)
    }
    guard let data = try? offer.data.parsed() else { throw ServiceError(.apiInternal) }
    return PendingRequest(
      session: record.address.id, protocolName: offer.protocolName, data: data, request: content.request,
      relyingParty: caller.relyingParty, origin: content.origin)
  }
}

/// Gives a wallet the signed request object of a session that waits for its answer, anew at each fetch.
struct FetchWalletRequest {
  let context: ServiceContext

  /// - Parameter parameters: reads the parameters of the form, if the wallet posted one; unknown ones are ignored. The
  ///   sender decides what reading costs, so it comes after the session was found to wait for an answer.
  func run(
    _ session: String, of relyingParty: String, parameters: () throws(ServiceError) -> JSON?
  ) async throws(ServiceError) -> [UInt8] {
    let address = try await WalletAddress(session, of: relyingParty, context: context)
    let record = address.record
    let now = context.clock()
    if let refusal = record.consumeRefusal(protocolName: address.wallet.name, at: now) {
      throw ServiceError(refusal.code)
    }
    let wallet = try PostedByWallet(try parameters())
    guard let content = record.content else { throw ServiceError(.sessionRedacted) }
    let opened = try address.material(context)
    // Anybody who knows the id may ask, and each time something is signed.
    let party = Flow(relyingParty: relyingParty)
    try context.gate.enter(party)
    defer { context.gate.leave(party) }
    let place = RequestContext(
      session: record.address, relyingParty: address.relyingParty,
      registration: try address.relyingParty.registration(of: content), origin: content.origin,
      publicURL: context.publicURL, now: now, code: address.code)
    return try address.wallet.requestObject(opened, for: content.request, wallet: wallet, in: place)
  }
}

/// What a wallet gets for its answer, and what only this server's own log may say of it.
package struct WalletReply: Sendable {
  /// 200, or 400 with feedback. OpenID4VP 1.0, 8.2 wants 200 for responses that were processed, and says nothing of refused
  /// ones.
  package let httpStatus: Int
  /// `{}` where a page waits that has its own response code, or where there is none; else the address to which the
  /// wallet is to send the person: `{"redirect_uri"}`. It is the same whatever the verdict is, but for feedback: `error`
  /// and `error_description` (RFC 6749, 4.1.2.1).
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

  /// - Parameter parameters: reads the parameters of the form. The sender decides what reading costs, so it comes after
  ///   the session was found to wait for an answer.
  func run(
    _ parameters: () throws(ServiceError) -> JSON, session: String, of relyingParty: String
  ) async throws(ServiceError) -> WalletReply {
    let address = try await WalletAddress(session, of: relyingParty, context: context)
    if let refusal = address.record.consumeRefusal(protocolName: address.wallet.name, at: context.clock()) {
      throw ServiceError(refusal.code)
    }
    let received = try parameters()
    var answer = try decode(received, by: address.wallet)
    if case .refusal = answer { try requireState(of: received, address) }
    if let code = address.code { answer.note(code) }
    let id = address.record.address.id
    let attempted = try await AnswerChallenge(context: context).run(
      answer, by: address.wallet, to: address.record.address, as: .wallet(id, of: address.relyingParty),
      code: address.code)
    let state = attempted.record.state(at: attempted.time)
    let code = state.lastError.flatMap { Code(rawValue: $0.code) }
    let feedback = state.status == .failed ? feedback(on: code, attempted, to: address.relyingParty) : nil
    return WalletReply(
      httpStatus: feedback == nil ? 200 : 400,
      body: .members([
        "redirect_uri": redirect(attempted).map { .string($0) }, "error": feedback.map { .string($0.error) },
        "error_description": feedback.map { .string($0.description) },
      ]),
      session: id, status: state.status, code: code)
  }

  /// What the wallet is told of a refused response: in staging and test mode the code and the detail of the first failed
  /// check, in live mode only that it was refused, and only if the relying party's rules ask for that. Details hold
  /// nothing personal.
  private func feedback(
    on code: Code?, _ attempted: AnswerChallenge.Attempted, to relyingParty: RelyingParty
  ) -> (error: String, description: String)? {
    guard relyingParty.openID4VP.walletFeedback ?? !context.isLive else { return nil }
    guard let code, code != .sessionInterrupted else { return ("server_error", "The response was not judged.") }
    guard !context.isLive else { return ("invalid_request", "The response was refused.") }
    let report = attempted.record.report
    let checks = (report?.checks ?? []) + (report?.documents.flatMap(\.checks) ?? [])
    let detail = checks.first { $0.code == code.rawValue && $0.outcome == Check.Outcome.failed.rawValue }?.detail
    return (code.rawValue, Self.errorDescription(detail ?? code.entry.summary))
  }

  /// The characters that RFC 6749, 4.1.2.1 allows, at most as many as are taken of a wallet's own.
  private static func errorDescription(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(Limits.errorDescriptionBytes).map { scalar -> Character in
        switch scalar {
        case "\"", "“", "”": "'"
        case " "..."~" where scalar != "\\": Character(scalar)
        default: "?"
        }
      })
  }

  /// An error ends the session and nothing in it is signed, so it must have the request's `state` (OpenID4VP 1.0, 8.5;
  /// RFC 6749, 4.1.2.1). Otherwise nothing is consumed.
  private func requireState(of received: JSON, _ address: WalletAddress) throws(ServiceError) {
    guard address.wallet.isState(received["state"]?.string, try address.material(context)) else {
      throw ServiceError(
        .apiInvalidRequest, pointers: [.init(pointer: "/state", detail: "must be the request's, in an error response")])
    }
  }

  private func redirect(_ attempted: AnswerChallenge.Attempted) -> String? {
    guard let content = attempted.record.content, let code = attempted.conclusion?.responseCode else { return nil }
    return content.redirectURI.map { RedirectURI.adding(code, to: $0) }
      ?? content.page?.returnAddress(for: attempted.record.address.id).map { $0 + "&response_code=" + code.text }
  }

  /// Reads the answer. The protocol's faults point into `/data`; here they point into the form instead.
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

/// The parameters of an OpenID4VP authorization response as a wallet hands them over, read before the challenge is
/// consumed. Anything that could be one answer or one error is accepted; anything that could be two is refused.
enum WalletResponse {
  private static let answers = ["response", "vp_token"]
  /// Of the page's code whose link the wallet followed: beside the parameters, and none of them.
  static let codeHash = "response_code_sha256"
  /// What is read of an answer, by any version of the protocol.
  private static let known = answers + ["state", "presentation_submission"]

  /// The parameters that are read; wallets send others too.
  ///
  /// - Parameter isForm: whether they come as a form, which has only text.
  static func schema(isForm: Bool) -> Schema {
    let token: Schema = isForm ? Schema.text.orNull : [:]
    return .openObject([
      "response": Schema.text.orNull.described(
        "The encrypted response, a compact JWE. Exactly one of `response`, `vp_token` and `error` is there."),
      "vp_token": token.described(
        isForm ? "The presentations, as JSON text." : "An object: the presentations, by the request's queries."),
      "state": Schema.text.orNull.described("The request's `state`; required with `error` where the wallet posts."),
      "presentation_submission": token.described(
        "The description that wallets of ISO/IEC TS 18013-7, Annex B, send with it."),
      "error": Schema.text.orNull.described("The wallet's refusal (OpenID4VP 1.0, 8.5), such as `access_denied`."),
      "error_description": Schema.text.orNull.described("The wallet's own words, which are kept with the session."),
    ])
  }

  /// `{"response": JWE}`, `{"vp_token": …}` or `{"error": …}`; what else a wallet sends is ignored
  /// (RFC 6749, 4.1.2), and goes no further.
  static func decode(_ data: JSON, isForm: Bool) throws(ServiceError) -> WalletAnswer {
    guard let members = data.object?.filter({ !$0.value.isNull }) else {
      throw .invalidMember("/data", "must be an object")
    }
    guard members.count(where: { (answers + ["error"]).contains($0.name) }) == 1 else {
      throw .invalidMember("/data", "must have one of `response`, `vp_token` and `error`")
    }
    let texts = isForm ? answers + ["error", "state"] : ["response", "error"]
    for member in members where texts.contains(member.name) && member.value.string == nil {
      throw .invalidMember("/data/\(member.name)", "must be a string")
    }
    if let error = data["error"]?.string {
      return .refusal(Code(walletError: error), description: data.errorDescription)
    }
    return .answer(.parameters(.object(members.filter { known.contains($0.name) })))
  }
}

extension WalletAnswer {
  /// Keeps with the answer which `response_uri` it was posted to.
  fileprivate mutating func note(_ code: ResponseCodeHash) {
    guard case .answer(.parameters(let parameters)) = self else { return }
    let noted = JSON.Member(WalletResponse.codeHash, .string(code.text))
    self = .answer(.parameters(.object((parameters.object ?? []) + [noted])))
  }
}

extension RelyingParty {
  /// What its wallets may have taken it for by mistake.
  var names: RelyingPartyNames { RelyingPartyNames(origins: origins, clientIDs: readers.flatMap(\.certifiedClientIDs)) }

  /// The registration certificate that a session's request was made with, or the one that has replaced it.
  fileprivate func registration(of content: SessionContent) throws(ServiceError) -> RegistrationCertificate? {
    let found = registrations.first { $0.intendedUseID == content.intendedUseID }
    guard found != nil || content.intendedUseID == nil else {
      // Its intended use is no longer configured: nothing can be asked for it.
      throw ServiceError(.sessionNotFound)
    }
    return found
  }
}
