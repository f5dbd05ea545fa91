/// A file of the hosted page, from the folder `Assets`, which the package's build rule embeds in the program.
package struct PageAsset: Sendable {
  package let name: String
  package let mediaType: String
  package let body: [UInt8]

  /// The page itself: the same for every session, since it reads the rest by itself.
  package static let page = PageAsset(
    name: "page.html", mediaType: "text/html; charset=utf-8", body: PackageResources.page_html)

  /// What the page loads.
  package static let files: [PageAsset] =
    [
      PageAsset(name: "page.css", mediaType: "text/css; charset=utf-8", body: PackageResources.page_css),
      script("page.js", PackageResources.page_js), script("session.js", PackageResources.session_js),
      script("language.js", PackageResources.language_js), script("dom.js", PackageResources.dom_js),
    ] + languages.map { PageAsset(name: "\($0.tag).json", mediaType: "application/json", body: $0.data) }

  /// The style of the status page.
  package static let statusStyle = PageAsset(
    name: "status.css", mediaType: "text/css; charset=utf-8", body: PackageResources.status_css)

  /// For pages of relying parties.
  package static let dropIn = script("mdoc.js", PackageResources.mdoc_js)

  /// By their tags (BCP 47): texts, and names of documents and elements.
  package static let languages: [(tag: String, data: [UInt8])] = [
    ("de", PackageResources.de_json), ("en", PackageResources.en_json), ("es", PackageResources.es_json),
    ("fr", PackageResources.fr_json), ("ja", PackageResources.ja_json),
  ]

  private static func script(_ name: String, _ body: [UInt8]) -> PageAsset {
    PageAsset(name: name, mediaType: "text/javascript; charset=utf-8", body: body)
  }
}
