import Base
import HTTP
import Pages
import Sessions

/// What the hosted page of a session calls, and relying parties that draw their own.
enum PageDataRoutes {
  static let all = [page, qrCode]

  private static let page = Route(
    method: .get, path: PathTemplate("/v1/verification_sessions/{id}/page"), name: "getVerificationPage",
    summary: "Read what the hosted page shows",
    description: "With `wait` the reply comes when the session ends, or after that many seconds.",
    access: .apiKeyOrClientSecret([.sessionsWrite, .resultsRead]),
    query: [
      .init(name: "wait", summary: "Seconds to wait for the session's end.", schema: .number(Limits.pageWait))
    ], success: .json(200, "VerificationPage"),
    problems: [.sessionNotFound, .sessionRedacted, .apiInvalidRequest]
  ) { call throws(ServiceError) in
    try await PageWait(call).answer()
  }

  private static let qrCode = Route(
    method: .get, path: PathTemplate("/v1/verification_sessions/{id}/qr_code"), name: "getVerificationQRCode",
    summary: "Read the QR code",
    description: "The QR code that opens a wallet, as SVG, for a session by `openid4vp`.",
    access: .apiKeyOrClientSecret([.sessionsWrite, .resultsRead]),
    query: [
      .init(
        name: "response_code_sha256",
        summary: "Of a response code that the page has made: it alone can then have the result read.",
        schema: .text(like: ResponseCodeHash.pattern))
    ], success: .content("image/svg+xml"),
    problems: [
      .sessionNotFound, .apiNotFound, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled, .sessionRedacted,
      .apiInvalidRequest,
    ]
  ) { call throws(ServiceError) in
    let hashes = call.query.map { ResponseCodeHash($0.value) }
    guard hashes.count <= 1, !hashes.contains(nil) else {
      throw ServiceError(.apiInvalidRequest, "`response_code_sha256` must be 32 bytes in base64url, once.")
    }
    let link = try await call.application.service.walletLink(
      call.id, code: hashes.first ?? nil, as: call.authenticated())
    do throws(QRCodeError) {
      return Answer(status: 200, mediaType: "image/svg+xml", body: Array(try QRCode(link).svg.utf8))
    } catch {
      throw ServiceError(.apiInternal, "The wallet's address is too long for a QR code.")
    }
  }
}

/// Holds a page's request back until the session has ended or the time is over, so that a page need not ask often.
///
/// The request lends its place meanwhile, reads nothing, and ends with its peer. One beyond the shares of `SessionWaits`
/// does not wait.
private struct PageWait {
  private let call: RouteCall
  private let seconds: Int64

  init(_ call: RouteCall) throws(ServiceError) {
    self.call = call
    let values = call.query.filter { $0.name == "wait" }.map(\.value)
    guard values.count <= 1 else { throw ServiceError(.apiInvalidRequest, "A query parameter is there twice.") }
    guard let value = values.first else {
      seconds = 0
      return
    }
    guard let number = Int64(value), Limits.pageWait.contains(number), String(number) == value else {
      let bounds = "\(Limits.pageWait.lowerBound) to \(Limits.pageWait.upperBound)"
      throw ServiceError(.apiInvalidRequest, "`wait` must be a whole number from \(bounds).")
    }
    seconds = number
  }

  func answer() async throws(ServiceError) -> Answer {
    let service = call.application.service
    let caller = try call.authenticated()
    let wait = enter(as: caller)
    defer { wait.map(call.application.state.waits.leave) }
    var page = try await service.page(call.id, as: caller)
    var held = 0.0
    if let wait, page.isWaiting {
      let start = ContinuousClock.now
      await HandlingPlace.lend(endsWithPeer: true) { await wait.hold() }
      held = (ContinuousClock.now - start) / .seconds(1)
      // Nobody reads the answer of a cancelled request.
      if Task.isCancelled { return Answer(status: 200, body: []) }
      page = try await service.page(call.id, as: caller)
    }
    var answer = Answer(json: page.json)
    answer.session = page.session.text
    answer.heldSeconds = held
    return answer
  }

  /// Nil if the request does not ask to wait, or may not. An API key's address is a backend's, where many people wait.
  private func enter(as caller: Caller) -> SessionWait? {
    guard seconds > 0, let session = SessionID(call.id) else { return nil }
    var address: ClientAddress?
    if case .clientSecret = caller { address = call.application.edge.proxy.address(of: call.request) }
    return call.application.state.waits.enter(
      session, of: caller.relyingParty.id, from: address, atMost: .seconds(seconds),
      unended: call.application.service.unended)
  }
}

/// `/verify/…`: the hosted page, its files, and the drop-in script. They are the same for every session and hold
/// nothing of one.
enum PageRoutes {
  static let all: [Route] = [logo, page] + (PageAsset.files + [PageAsset.statusStyle]).map(asset) + [dropIn]

  private static let page = Route(
    method: .get, path: PathTemplate("/verify/{relying_party}/{session}"), name: "getHostedPage",
    summary: "The page on which a person answers a session.", access: .anyone,
    query: [.init(name: "lang", summary: "The page's language.", schema: .text)],
    success: .content(PageAsset.page.mediaType), problems: [.apiNotFound, .apiStoreUnavailable]
  ) { call throws(ServiceError) in
    let party = try party(of: call)
    // The headers name who may frame the page, so it must be the page of this relying party's session.
    guard try await call.application.service.hasSession(call.parameters["session"] ?? "", of: party) else {
      throw ServiceError(.apiNotFound)
    }
    var answer = file(PageAsset.page.mediaType, PageAsset.page.body)
    answer.headers += [
      ("Content-Security-Policy", policy(framedBy: party.webOrigins)),
      ("Permissions-Policy", "digital-credentials-get=(self), camera=(), microphone=(), geolocation=()"),
    ]
    return answer
  }

  private static let logo = Route(
    method: .get, path: PathTemplate("/verify/{relying_party}/logo"), name: "getHostedPageLogo",
    summary: "The relying party's logo.", access: .anyone, success: .content("image/*"), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard let logo = try party(of: call).page?.logo else { throw ServiceError(.apiNotFound) }
    var answer = file(logo.mediaType, logo.bytes)
    // An SVG that is opened by itself may have scripts of its own.
    answer.headers.append(("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"))
    return answer
  }

  private static func asset(_ asset: PageAsset) -> Route {
    Route(
      method: .get, path: PathTemplate("/assets/\(asset.name)"), name: "getHostedPageFile_\(asset.name)",
      summary: "A file of the page.", access: .anyone, success: .content(asset.mediaType)
    ) { _ in file(asset.mediaType, asset.body) }
  }

  /// Pages of other origins load it, with its hash (`integrity`, `crossorigin`).
  private static let dropIn = Route(
    method: .get, path: PathTemplate("/v1/js/\(PageAsset.dropIn.name)"), name: "getDropInScript",
    summary: "The script for pages of relying parties.", access: .anyone,
    success: .content(PageAsset.dropIn.mediaType)
  ) { _ in
    var answer = Answer(status: 200, mediaType: PageAsset.dropIn.mediaType, body: PageAsset.dropIn.body)
    answer.headers = [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
    return answer
  }

  /// The relying party in the path, if it has a page.
  private static func party(of call: RouteCall) throws(ServiceError) -> RelyingParty {
    guard let party = call.application.service.relyingParties[call.parameters["relying_party"] ?? ""],
      party.page != nil
    else { throw ServiceError(.apiNotFound) }
    return party
  }

  private static func file(_ mediaType: String, _ body: [UInt8]) -> Answer {
    var answer = Answer(status: 200, mediaType: mediaType, body: body)
    answer.headers = [("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin")]
    return answer
  }

  /// Nothing from elsewhere, no inline script or style, and frames in pages of the relying party alone.
  private static func policy(framedBy origins: [String]) -> String {
    [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
      "base-uri 'none'", "form-action 'none'", frames(origins),
    ].joined(separator: "; ")
  }

  private static func frames(_ origins: [String]) -> String {
    "frame-ancestors " + (origins.isEmpty ? "'none'" : origins.joined(separator: " "))
  }

  /// The headers of a page without scripts, which loads its style from here and nothing else.
  static func scriptFree(framedBy origins: [String] = []) -> [(name: String, value: String)] {
    let policy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    return [
      ("Content-Security-Policy", policy + frames(origins)), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }
}
