import Base
import HTTP
import Pages
import Sessions

/// Operations for the hosted page of a session, and for relying parties with their own page.
enum PageDataRoutes {
  private static let access = Access.apiKeyOrClientSecret([.sessionsWrite, .resultsRead])

  private static let codeQuery = Query<ResponseCodeHash?>(
    nil,
    .value(
      "response_code_sha256", .text(like: ResponseCodeHash.pattern),
      "SHA-256 of a response code that your page made. Reading the result then requires that code.",
      rule: "must be 32 bytes in base64url", { ResponseCodeHash($0) }, { $0 = $1 }))

  static let all: [Route] = [
    Route(
      .get, "/v1/verification_sessions/{id}/page", "getVerificationPage", "Read the hosted page's data",
      "With `wait`, the reply is sent when the session ends, or after that many seconds.", access: access,
      query: PageWait.query.parameters, success: .json("VerificationPage"),
      problems: [.sessionNotFound, .sessionRedacted, .apiInvalidRequest]
    ) { call throws(ServiceError) in
      try await PageWait(call).reply()
    },
    Route(
      .get, "/v1/verification_sessions/{id}/qr_code", "getVerificationQRCode", "Read the QR code",
      "The QR code that opens a wallet, as SVG, for an `openid4vp` session.", access: access,
      query: codeQuery.parameters, success: .content("image/svg+xml"),
      problems: [
        .sessionNotFound, .apiNotFound, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled, .sessionRedacted,
        .apiInvalidRequest,
      ]
    ) { call throws(ServiceError) in
      let code = try codeQuery.read(call.query)
      let link = try await call.service.walletLink(call.id, code: code, as: call.authenticated())
      guard let code = QRCode(link) else {
        throw ServiceError(.apiInternal, "The wallet's address is too long for a QR code.")
      }
      return Reply("image/svg+xml", Array(code.svg.utf8))
    },
  ]
}

/// Delays the reply to a page until the session ends or the wait times out. The page then polls less often. A waiting
/// request lends its slot to other requests, and ends if its peer disconnects. A request beyond the limits of
/// `SessionWaits` does not wait.
private struct PageWait {
  private let call: RouteCall
  private let seconds: Int64

  static let query = Query<Int64>(
    0, .whole("wait", Limits.pageWait, "Seconds to wait for the session's end.") { $0 = $1 })

  init(_ call: RouteCall) throws(ServiceError) {
    self.call = call
    seconds = try Self.query.read(call.query)
  }

  func reply() async throws(ServiceError) -> Reply {
    let caller = try call.authenticated()
    let wait = enter(as: caller)
    defer { wait.map(call.application.state.waits.leave) }
    var page = try await call.service.page(call.id, as: caller)
    var held = 0.0
    if let wait, page.isWaiting {
      let start = ContinuousClock.now
      await HandlingPlace.lend(endsWithPeer: true) { await wait.hold() }
      held = (ContinuousClock.now - start) / .seconds(1)
      // Nobody reads the reply to a cancelled request.
      if Task.isCancelled { return page.reply }
      page = try await call.service.page(call.id, isFetched: wait.hasFetch, as: caller)
    }
    page.reply.heldSeconds = held
    return page.reply
  }

  /// Begins a wait. Returns nil if the request does not ask to wait or may not wait. Requests with an API key are not
  /// counted by address: a backend sends them for many people.
  private func enter(as caller: Caller) -> SessionWait? {
    guard seconds > 0, let session = SessionID(call.id) else { return nil }
    var address: ClientAddress?
    if case .clientSecret = caller { address = call.application.edge.proxy.address(of: call.request) }
    return call.application.state.waits.enter(
      session, of: caller.relyingParty.id, from: address, atMost: .seconds(seconds),
      unended: call.service.unended)
  }
}

/// `/verify/…`: the hosted page, its files, and the drop-in script. All are the same for every session.
enum PageRoutes {
  static let all: [Route] =
    [home, logo("logo", \.logo), logo("logo_dark", \.darkLogo), page, console]
    + (PageAsset.files + PageAsset.consoleFiles + [PageAsset.statusStyle]).map(asset)
    + [dropIn]

  /// `/`: describes this server to visitors.
  private static let home = Route(
    .get, "/", "getHome", "Describes this server.", access: .anyone, success: .content(PageAsset.page.mediaType)
  ) { call throws(ServiceError) in
    let mode = call.service.mode
    let links =
      (mode == .test
        ? [
          ("playground", "/playground", "Try it in the playground"),
          ("check", "/check", "Verify your own response"), ("wallet", "/wallet", "Respond to a link as a wallet"),
        ]
        : [])
      + (call.application.documentation == nil
        ? []
        : [
          ("documentation", "/docs", "The documentation"),
          (
            "reference", "/docs/api",
            "API reference with examples"
          ),
        ])
      + (call.application.hasConsole ? [("console", "/console", "A relying party's sessions")] : [])
      + [("contract", "/openapi.json", "The API's contract"), ("status", "/status", "Health page for operators")]
    var reply: Reply
    if call.prefersPage {
      let items = links.map { "<p><a href=\"\($0.1)\">\($0.2)</a></p>" }.joined(separator: "\n")
      let body = """
        <main>
        <h1>mdoc</h1>
        <p class="soft">A server that verifies driving licences and other identity documents from wallets \
        (ISO/IEC 18013-5), in \(mode.rawValue) mode.</p>
        \(items)
        </main>
        """
      reply = file(PageAsset.page.mediaType, HTMLText.page("mdoc", style: "page.css", meta: "", body))
      reply.headers += scriptFree()
    } else {
      let addresses = JSON.object(links.map { .init($0.0, .string($0.1)) })
      reply = Reply(json: ["object": "server", "name": "mdoc", "mode": .string(mode.rawValue), "links": addresses])
    }
    reply.headers.append(("Vary", "Accept"))
    return reply
  }

  private static let page = Route(
    .get, "/verify/{relying_party}/{session}", "getHostedPage", "A session's hosted page.", access: .anyone,
    query: [.init("lang", .text, "The page's language.")],
    success: .content(PageAsset.page.mediaType), problems: [.apiNotFound, .apiStoreUnavailable]
  ) { call throws(ServiceError) in
    let party = try party(of: call)
    // The headers list the origins that may frame the page. The session must therefore belong to this relying party.
    guard try await call.service.hasSession(call.parameters["session"] ?? "", of: party) else {
      throw ServiceError(.apiNotFound)
    }
    var reply = file(PageAsset.page.mediaType, PageAsset.page.body)
    reply.headers += [
      ("Content-Security-Policy", policy(framedBy: party.webOrigins)),
      ("Permissions-Policy", "digital-credentials-get=(self), camera=(), microphone=(), geolocation=()"),
    ]
    return reply
  }

  private static let console = Route(
    .get, "/console", "getConsole", "The page where a relying party sees its sessions with an API key.",
    access: .anyone, success: .content(PageAsset.page.mediaType), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard call.application.hasConsole else { throw ServiceError(.apiNotFound) }
    var reply = file(PageAsset.console.mediaType, PageAsset.console.body)
    reply.headers.append(("Content-Security-Policy", policy(framedBy: [])))
    return reply
  }

  private static func logo(_ name: String, _ logo: @escaping @Sendable (HostedPage) -> HostedPage.Logo?) -> Route {
    Route(
      .get, "/verify/{relying_party}/\(name)", "getHostedPageFile_\(name)", "The relying party's logo.",
      access: .anyone, success: .content("image/*"), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      guard let logo = try party(of: call).page.flatMap(logo) else { throw ServiceError(.apiNotFound) }
      var reply = file(logo.mediaType, logo.bytes)
      // Without this policy, an SVG's scripts run when the SVG is opened as a document.
      reply.headers.append(("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"))
      return reply
    }
  }

  private static func asset(_ asset: PageAsset) -> Route {
    Route(
      .get, "/assets/\(asset.name)", "getHostedPageFile_\(asset.name)", "A file of the page.", access: .anyone,
      success: .content(asset.mediaType)
    ) { _ in file(asset.mediaType, asset.body) }
  }

  /// Pages of other origins load this script, with its hash (`integrity`, `crossorigin`).
  private static let dropIn = Route(
    .get, "/v1/js/\(PageAsset.dropIn.name)", "getDropInScript", "The script for pages of relying parties.",
    access: .anyone, success: .content(PageAsset.dropIn.mediaType)
  ) { _ in
    var reply = Reply(PageAsset.dropIn.mediaType, PageAsset.dropIn.body)
    reply.headers = [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
    return reply
  }

  /// A page that contains only a report.
  static func page(of report: ReportRecord) -> Reply {
    let verdict = VerdictText(json: ["report": ReportRendering.json(report)])
    let page = HTMLPrinter.page(verdict.report, kind: "Report of a verification")
    var reply = file(PageAsset.page.mediaType, page.bytes)
    reply.headers.append(("Content-Security-Policy", "\(page.policy); \(frames([]))"))
    return reply
  }

  private static func party(of call: RouteCall) throws(ServiceError) -> RelyingParty {
    let party = call.service.relyingParties[call.parameters["relying_party"] ?? ""]
    guard let party, party.page != nil else { throw ServiceError(.apiNotFound) }
    return party
  }

  private static func file(_ mediaType: String, _ body: [UInt8]) -> Reply {
    var reply = Reply(mediaType, body)
    reply.headers = [("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin")]
    return reply
  }

  /// Forbids inline scripts, inline styles and content from other origins. Only pages of the relying party may frame
  /// the page.
  private static func policy(framedBy origins: [String]) -> String {
    [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
      "base-uri 'none'", "form-action 'none'", frames(origins),
    ].joined(separator: "; ")
  }

  private static func frames(_ origins: [String]) -> String {
    "frame-ancestors " + (origins.isEmpty ? "'none'" : origins.joined(separator: " "))
  }

  /// The headers of a script-free page that loads only its own style sheet.
  static func scriptFree(framedBy origins: [String] = []) -> [(name: String, value: String)] {
    let policy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    return [
      ("Content-Security-Policy", policy + frames(origins)), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }
}
