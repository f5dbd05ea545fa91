import App
import Base
import Sessions

/// `/playground`: the page, its files and what it is set up with. Test mode alone has them.
enum PlaygroundRoutes {
  static func all(_ playground: Playground) -> [Route] { PlaygroundAsset.all.map(route) + [configuration(playground)] }

  private static func configuration(_ playground: Playground) -> Route {
    Route(
      method: .get, path: PathTemplate("/playground/config.json"), name: "getPlaygroundConfiguration",
      summary: "What the page is set up with, test mode's API key among it. For a browser on this machine.",
      access: .anyone, success: .content("application/json"), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Answer(json: PlaygroundConfiguration.json(playground, of: call.application.service)))
    }
  }

  private static func route(_ asset: PlaygroundAsset) -> Route {
    Route(
      method: .get, path: PathTemplate("/playground" + (asset.name.isEmpty ? "" : "/\(asset.name)")),
      name: asset.operation,
      summary: asset.name.isEmpty ? "A page to try everything with, in a browser on this machine." : "A file of it.",
      access: .anyone, success: .content(asset.mediaType), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Answer(status: 200, mediaType: asset.mediaType, body: asset.body))
    }
  }

  /// Throws `api.not_found` for requests by any other name than this machine's own. A page of another site that has its
  /// name resolved to 127.0.0.1 (DNS rebinding) asks by that name, and learns not even that there is something here.
  private static func checkHost(_ call: RouteCall) throws(ServiceError) {
    guard let host = call.request.headers.single("Host"), isThisMachine(host) else { throw ServiceError(.apiNotFound) }
  }

  /// `127.0.0.1`, `localhost` or `[::1]`, with any port or none.
  static func isThisMachine(_ host: String) -> Bool {
    ["127.0.0.1", "localhost", "[::1]"].contains { name in
      guard host.utf8.starts(with: name.utf8) else { return false }
      let rest = host.utf8.dropFirst(name.utf8.count)
      return rest.isEmpty
        || rest.first == UInt8(ascii: ":") && (2...6).contains(rest.count)
          && rest.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }

  /// Scripts, styles and calls of this server alone, in no frame, and no address of it elsewhere.
  private static func guarded(_ answer: Answer) -> Answer {
    var answer = answer
    answer.headers += [
      ("Content-Security-Policy", contentSecurityPolicy), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return answer
  }

  private static let contentSecurityPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")
}

/// The page of test mode that a person can use: what it needs beside the application itself.
struct Playground: Sendable {
  /// Test mode's own. The page acts as a relying party's backend, which on a real site never hands its key to a page.
  let apiKey: String
}

/// A file of the page, inside the program: the folder `Assets`, embedded by the package's build rule.
struct PlaygroundAsset: Sendable {
  /// Below `/playground`; empty for the page itself.
  let name: String
  /// In OpenAPI.
  let operation: String
  let mediaType: String
  let body: [UInt8]

  static let all: [PlaygroundAsset] = [
    .init(name: "", operation: "getPlayground", mediaType: html, body: PackageResources.playground_html),
    .init(name: "style.css", operation: "getPlaygroundStyle", mediaType: css, body: PackageResources.style_css),
    script("playground", PackageResources.playground_js),
    script("api", PackageResources.api_js),
    script("ask", PackageResources.ask_js),
    script("dom", PackageResources.dom_js),
    script("values", PackageResources.values_js),
    script("variants", PackageResources.variants_js),
    script("verdict", PackageResources.verdict_js),
  ]

  private static let html = "text/html; charset=utf-8"
  private static let css = "text/css; charset=utf-8"
  private static let javaScript = "text/javascript; charset=utf-8"

  private static func script(_ name: String, _ body: [UInt8]) -> PlaygroundAsset {
    PlaygroundAsset(
      name: "\(name).js", operation: "getPlaygroundScript_\(name)", mediaType: javaScript, body: body)
  }
}
