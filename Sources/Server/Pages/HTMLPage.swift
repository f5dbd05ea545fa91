import Base
import Cryptography

/// A self-contained page for screen and print. Its policy allows one style, embedded images, at most one script, and no
/// request. Quoted text therefore cannot run a script or send a request.
package struct HTMLPage: Sendable {
  private let title: String
  private let body: String
  private let script: String?

  package init(title: String, body: String, script: String? = nil) {
    (self.title, self.body, self.script) = (title, body, script)
  }

  package var bytes: [UInt8] {
    let page = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <title>\(HTMLText.escaped(title))</title>
      <link rel="icon" href="data:,">
      <style>\(Self.style)</style>
      </head>
      <body>
      \(body)
      \(script.map { "<script>\($0)</script>" } ?? "")
      </body>
      </html>

      """
    return Array(page.utf8)
  }

  /// The page's content security policy.
  package var policy: String {
    let scripts = script.map { "script-src '\(Self.source($0))'; " } ?? ""
    return "default-src 'none'; style-src '\(Self.source(Self.style))'; \(scripts)img-src data:; base-uri 'none'; "
      + "form-action 'none'"
  }

  /// The policy's hash source for an inline style or script (CSP Level 3, 2.3.1).
  private static func source(_ text: String) -> String {
    "sha256-\(Base64.encode(HashAlgorithm.sha256.hash(Array(text.utf8))))"
  }

  private static let style = String(decoding: PackageResources.report_css, as: UTF8.self)
}
