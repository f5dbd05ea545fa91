/// A file of the hosted page. The package's build rule embeds the folder `Assets` in the program.
package struct PageAsset: Sendable {
  package let name: String
  package let mediaType: String
  package let body: [UInt8]

  /// The page itself. It is the same for every session: its script reads the session's data.
  package static let page = PageAsset(
    name: "page.html", mediaType: "text/html; charset=utf-8", body: PackageResources.page_html)

  /// The files that the page loads.
  package static let files: [PageAsset] =
    [
      PageAsset(name: "page.css", mediaType: "text/css; charset=utf-8", body: PackageResources.page_css),
      script("page.js", PackageResources.page_js), script("session.js", PackageResources.session_js),
      script("language.js", PackageResources.language_js), script("dom.js", PackageResources.dom_js),
      script("asked.js", PackageResources.asked_js), script("brand.js", PackageResources.brand_js),
    ] + languages.map { PageAsset(name: "\($0.tag).json", mediaType: "application/json", body: $0.data) }

  /// The console's page and its own files. The console also loads files of the hosted page and the status page.
  package static let console = PageAsset(
    name: "console.html", mediaType: "text/html; charset=utf-8", body: PackageResources.console_html)
  package static let consoleFiles = [
    PageAsset(name: "console.css", mediaType: "text/css; charset=utf-8", body: PackageResources.console_css),
    script("console.js", PackageResources.console_js),
  ]

  /// The style of the status page.
  package static let statusStyle = PageAsset(
    name: "status.css", mediaType: "text/css; charset=utf-8", body: PackageResources.status_css)

  /// The drop-in script for relying parties' own pages.
  package static let dropIn = script("mdoc.js", PackageResources.mdoc_js)

  /// The page's texts, and names of documents and elements, by language tag (BCP 47).
  package static let languages: [(tag: String, data: [UInt8])] = [
    ("de", PackageResources.de_json), ("en", PackageResources.en_json), ("es", PackageResources.es_json),
    ("fr", PackageResources.fr_json), ("ja", PackageResources.ja_json),
  ]

  private static func script(_ name: String, _ body: [UInt8]) -> PageAsset {
    PageAsset(name: name, mediaType: "text/javascript; charset=utf-8", body: body)
  }
}

/// Writes text as HTML and XML.
package enum HTMLText {
  /// A page without scripts.
  ///
  /// - Parameter meta: an element of the head; empty for none.
  package static func page(
    _ title: String, language: String = "en", style: String, meta: String, _ body: String
  ) -> [UInt8] {
    let page = """
      <!doctype html>
      <html lang="\(language)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      \(meta)
      <title>\(escaped(title))</title>
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="/assets/\(style)">
      </head>
      <body>
      \(body)
      </body>
      </html>

      """
    return Array(page.utf8)
  }

  /// Escapes the characters that HTML and XML reserve, for content and for quoted attributes.
  ///
  /// Replaces characters that XML 1.0 does not allow, so that quoted text cannot break the page.
  package static func escaped(_ text: String) -> String {
    var output = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      case "'": output += "&#39;"
      case "\t", "\n", "\r", "\u{20}"..."\u{7e}", "\u{a0}"..."\u{d7ff}", "\u{e000}"..."\u{fffd}",
        "\u{10000}"..."\u{10ffff}":
        output.unicodeScalars.append(character)
      default: output += "\u{fffd}"
      }
    }
    return output
  }
}
