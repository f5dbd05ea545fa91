import Base
import Cryptography
import Mdoc
import Presentation

/// The session at a wallet's address, with its protocol. Wallets have no credential. They know only the session's name
/// in the address. Unknown sessions, other relying parties' sessions and sessions without a wallet protocol get the
/// same refusal.
struct WalletAddress {
  let record: SessionRecord
  let relyingParty: RelyingParty
  let wallet: any FetchedRequestProtocol
  /// The hashed response code of the page that opened the wallet by link or QR code.
  let code: ResponseCodeHash?

  init(_ session: String, of relyingParty: String, service: VerificationService) async throws(ServiceError) {
    guard let party = service.relyingParties[relyingParty], let path = WalletPath(session) else {
      throw .sessionNotFound
    }
    code = path.code
    record = try await service.record(at: SessionAddress(relyingParty: party.id, id: path.session))
    if case .redacted = record.state { throw ServiceError(.sessionRedacted) }
    // A session offers at most one protocol whose request the wallet fetches.
    let wallets = record.offers.lazy.compactMap { service.protocols[$0.protocolName] as? any FetchedRequestProtocol }
    guard let wallet = wallets.first else { throw .sessionNotFound }
    self.wallet = wallet
    self.relyingParty = party
  }

  func material(_ sealer: Sealer) throws(ServiceError) -> SecretBytes {
    guard let sealed = record.offers.first(where: { $0.protocolName == wallet.name })?.sealedMaterial,
      let opened = try? sealer.open(sealed, .challenge(record.address.id, protocolName: wallet.name))
    else { throw ServiceError(.apiInternal, "A sealed record cannot be opened with the configured keys.") }
    return opened
  }
}

package struct PendingRequest: Sendable {
  package let session: SessionID
  package let protocolName: String
  package let data: JSON
  package let request: PresentationRequest
  package let relyingParty: RelyingParty
  package let origin: String?
}

extension VerificationService {
  /// A session's request for test mode's mock wallet. The default protocol is the session's first.
  package func pendingRequest(
    _ id: String, by protocolName: String? = nil, as caller: Caller
  ) async throws(ServiceError) -> PendingRequest {
    guard mode == .test else { throw ServiceError(.apiNotFound) }
    let record = try await record(at: try caller.address(of: id))
    guard let content = record.content, let first = record.offers.first else { throw ServiceError(.sessionRedacted) }
    guard let offer = record.offers.first(where: { $0.protocolName == protocolName ?? first.protocolName }) else {
      throw ServiceError(.sessionProtocolMismatch)
    }
    guard let data = try? offer.data.parsed() else { throw ServiceError(.apiInternal) }
    return PendingRequest(
      session: record.address.id, protocolName: offer.protocolName, data: data, request: content.request,
      relyingParty: caller.relyingParty, origin: content.origin)
  }

  /// `GET` or `POST /v1/wallet/{relying_party}/{session}/request`: the signed request object. Each fetch creates it
  /// again, and anyone who knows the session's id may fetch it.
  /// - Parameter parameters: reads the posted form. It is called only for a waiting session, since the sender controls
  ///   the cost of parsing.
  package func walletRequest(
    _ session: String, of relyingParty: String, parameters: @autoclosure () throws(ServiceError) -> JSON? = nil
  ) async throws(ServiceError) -> [UInt8] {
    let address = try await WalletAddress(session, of: relyingParty, service: self)
    let record = address.record
    let now = clock()
    if let refusal = record.consumeRefusal(protocolName: address.wallet.name, at: now) { throw ServiceError(refusal) }
    let wallet = try PostedByWallet(try parameters())
    guard let content = record.content else { throw ServiceError(.sessionRedacted) }
    let opened = SharedSecret(try address.material(sealer))
    // Anybody who knows the id may fetch the request, and each fetch costs a signature.
    let party = Flow(relyingParty: relyingParty)
    try gate.enter(party)
    defer { gate.leave(party) }
    let context = RequestContext(
      session: record.address, relyingParty: address.relyingParty,
      registration: try address.relyingParty.registration(of: content), origin: content.origin, publicURL: publicURL,
      now: now, code: address.code)
    let isSigned = !(address.wallet is AgeVerificationProtocol)
    return try await using(isSigned ? context.relyingParty.readers.map(\.key) : []) { () throws(ServiceError) in
      try address.wallet.requestObject(opened.bytes, for: content.request, wallet: wallet, in: context)
    }
  }

  /// `POST /v1/wallet/{relying_party}/{session}/response`: accepts a wallet's posted response (`direct_post`,
  /// `direct_post.jwt`; OpenID4VP 1.0, 8.2) or error. The reply is `{"redirect_uri"}`. It is `{}` if the session has no
  /// redirect URI, or if the waiting page has its own response code. If feedback is enabled, a rejected response gets
  /// 400 with `error` and `error_description` (RFC 6749, 4.1.2.1). Otherwise the reply does not depend on the verdict.
  /// OpenID4VP 1.0, 8.2 requires 200 for processed responses. It does not define the reply to a rejected response.
  /// - Parameter parameters: reads the posted form. It is called only for a waiting session, since the sender controls
  ///   the cost of parsing.
  package func receiveWalletResponse(
    _ parameters: @autoclosure () throws(ServiceError) -> JSON, session: String, of relyingParty: String
  ) async throws(ServiceError) -> Reply {
    let address = try await WalletAddress(session, of: relyingParty, service: self)
    if let refusal = address.record.consumeRefusal(protocolName: address.wallet.name, at: clock()) {
      throw ServiceError(refusal)
    }
    let received = try parameters()
    var response = try address.wallet.decode(received, at: "")
    if case .refusal = response { try requireState(of: received, address) }
    if let code = address.code { response.note(code) }
    let id = address.record.address.id
    let attempted = try await verify(
      response, by: address.wallet, to: address.record.address, as: .wallet(id, of: address.relyingParty),
      code: address.code)
    let state = attempted.record.state(at: attempted.time)
    let code = state.lastError.flatMap { Code(rawValue: $0.code) }
    let feedback = state.status == .failed ? feedback(on: code, attempted, to: address.relyingParty) : nil
    let body = JSON.members([
      "redirect_uri": redirect(attempted).map { .string($0) }, "error": feedback.map { .string($0.error) },
      "error_description": feedback.map { .string($0.description) },
    ])
    return Reply(feedback == nil ? 200 : 400, json: body, session: id).ending(state)
  }

  /// Tells the wallet why its response was rejected. In staging and test mode this is the code and the detail of the
  /// first failed check. In live mode, it states only the rejection, and only if the relying party's configuration
  /// enables feedback. Details contain no personal data.
  private func feedback(
    on code: Code?, _ attempted: Attempted, to relyingParty: RelyingParty
  ) -> (error: String, description: String)? {
    guard relyingParty.openID4VP.walletFeedback ?? !mode.isLive else { return nil }
    guard let code, code != .sessionInterrupted else { return ("server_error", "The response was not verified.") }
    guard !mode.isLive else { return ("invalid_request", "The response was rejected.") }
    let report = attempted.record.report
    let checks = (report?.checks ?? []) + (report?.documents.flatMap(\.checks) ?? [])
    let detail = checks.first { $0.code == code.rawValue && $0.outcome == Check.Outcome.failed.rawValue }?.detail
    return (code.rawValue, Self.errorDescription(detail ?? code.entry.summary))
  }

  /// Replaces characters that RFC 6749, 4.1.2.1 forbids. Truncates the text to the maximum length of a wallet's own
  /// description.
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

  /// An error is unsigned, so it must contain the request's `state` (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1).
  private func requireState(of received: JSON, _ address: WalletAddress) throws(ServiceError) {
    guard address.wallet.isState(received["state"]?.string, try address.material(sealer)) else {
      throw .invalidMember("/state", "must equal the request's `state` in an error response")
    }
  }

  private func redirect(_ attempted: Attempted) -> String? {
    guard let content = attempted.record.content, let code = attempted.conclusion?.responseCode else { return nil }
    return content.redirectURI.map { RedirectURI.adding(code, to: $0) }
      ?? content.page?.returnAddress(for: attempted.record.address.id).map { $0 + "&response_code=" + code.text }
  }
}

/// The parameters of an OpenID4VP authorization response, read before the challenge is consumed.
package enum PostedParameters {
  private static let responses = ["response", "vp_token"]
  /// The server's own member: the hashed response code of the page that opened the wallet.
  package static let codeHash = "response_code_sha256"
  /// The members of a response in any version of the protocol.
  private static let known = responses + ["state", "presentation_submission"]

  /// - Parameter isForm: true for a form, which has only text.
  static func schema(isForm: Bool) -> Schema {
    let token: Schema = isForm ? Schema.text.orNull : [:]
    return .openObject([
      "response": Schema.text.orNull.described(
        "The encrypted response, a compact JWE. Send exactly one of `response`, `vp_token` and `error`."),
      "vp_token": token.described(
        isForm ? "The presentations, as JSON text." : "An object: the presentations, by their queries' ids."),
      "state": Schema.text.orNull.described("The request's `state`; required with `error` if the wallet itself posts."),
      "presentation_submission": token.described(
        "Sent with `vp_token` by wallets of ISO/IEC TS 18013-7, Annex B."),
      "error": Schema.text.orNull.described("The wallet's refusal (OpenID4VP 1.0, 8.5), such as `access_denied`."),
      "error_description": Schema.text.orNull.described(
        "The wallet's own description of its error. It is stored with the session."),
    ])
  }

  /// `{"response": JWE}`, `{"vp_token": …}` or `{"error": …}`. Drops other members (RFC 6749, 4.1.2).
  static func decode(_ data: JSON, at pointer: String, isForm: Bool) throws(ServiceError) -> WalletResponse {
    guard let members = data.object?.filter({ !$0.value.isNull }) else {
      throw .invalidMember(pointer, "must be an object")
    }
    guard members.count(where: { (responses + ["error"]).contains($0.name) }) == 1 else {
      throw .invalidMember(pointer, "must have one of `response`, `vp_token` and `error`")
    }
    let texts = isForm ? responses + ["error", "state"] : ["response", "error"]
    for member in members where texts.contains(member.name) && member.value.string == nil {
      throw .invalidMember("\(pointer)/\(member.name)", "must be a string")
    }
    if let error = data["error"]?.string {
      return .refusal(Code(walletError: error), description: data.errorDescription)
    }
    return .response(.parameters(.object(members.filter { known.contains($0.name) })))
  }
}

extension WalletResponse {
  /// Adds the code hash from the `response_uri` to the response.
  fileprivate mutating func note(_ code: ResponseCodeHash) {
    guard case .response(.parameters(let parameters)) = self else { return }
    let noted = JSON.Member(PostedParameters.codeHash, .string(code.text))
    self = .response(.parameters(.object((parameters.object ?? []) + [noted])))
  }
}

extension RelyingParty {
  /// The relying party's origins and client identifiers. A wallet may sign with the wrong one by mistake. The report
  /// uses them to explain a device signature that does not verify.
  var names: RelyingPartyNames { RelyingPartyNames(origins: origins, clientIDs: readers.flatMap(\.certifiedClientIDs)) }

  /// The registration certificate of a session's request, or the certificate that replaced it.
  fileprivate func registration(of content: SessionContent) throws(ServiceError) -> RegistrationCertificate? {
    let found = registrations.first { $0.intendedUseID == content.intendedUseID }
    guard found != nil || content.intendedUseID == nil else {
      // The intended use is no longer configured, so no request is possible.
      throw ServiceError(.sessionNotFound)
    }
    return found
  }
}

extension OpenID4VPChallenge {
  /// Restores a challenge with the `response_uri` that was sent to the wallet. A client identifier with the prefix
  /// `redirect_uri:` also contains it.
  init?(kept material: borrowing SecretBytes, for path: WalletPath) {
    self.init(serialized: material)
    if case .client(let id, let uri) = recipient {
      recipient = .client(id: path.renaming(id), responseURI: path.renaming(uri))
    }
  }
}

/// A session's addresses for wallets that a redirect or QR code opens (OpenID4VP 1.0, 5.10 and 8.2).
package struct WalletAddresses: Sendable, Hashable {
  package let request: String
  package let response: String
  package let host: String

  /// - Parameter publicURL: `https://host[:port]`, without a path.
  init(publicURL: String, session: SessionAddress) {
    let party = FormEncoding.escaped(session.relyingParty)
    let base = [publicURL, "v1/wallet", party, session.id.text].joined(separator: "/")
    request = base + "/request"
    response = base + "/response"
    host = Self.host(of: publicURL)
  }

  /// The address that opens a wallet and passes the request by reference (RFC 9101, 5.2).
  func authorizationRequest(scheme: String, clientID: String) -> String {
    Self.link(scheme: scheme, [("client_id", clientID), ("request_uri", request), ("request_uri_method", "post")])
  }

  static func link(scheme: String, _ parameters: [(name: String, value: String)]) -> String {
    scheme + "://?" + FormEncoding.text(of: parameters)
  }

  /// An address in brackets contains colons (RFC 3986, 3.2.2).
  private static func host(of url: String) -> String {
    let authority = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
    return String(authority.prefix { $0 != ":" })
  }
}
