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
