import Base
import HTTP
import Pages
import Sessions

/// A refusal for a person: a page in the hosted page's style, without scripts.
///
/// The path decides whether a refusal is a page (`Router.isPage`), since every program may send any `Accept`. Below
/// `/verify/` it speaks the person's language and says what to do. Elsewhere it tells an operator what the problem says.
struct ErrorPage: Sendable {
  static let mediaType = PageAsset.page.mediaType

  let body: [UInt8]
  let headers: [(name: String, value: String)]

  init(_ problem: Problem, _ request: HTTPRequest, _ requestID: String, _ parties: RelyingParties) {
    let segments = PathTemplate.segments(of: request.path)
    let isHosted = segments.first == "verify"
    let texts = Texts.chosen(for: request)
    let passes = problem.code.httpStatus == 429 || problem.code.httpStatus >= 500
    let (title, about) =
      isHosted
      ? (passes ? texts.tryAgain : texts.gone, passes ? "" : texts.goneAbout)
      : (problem.code.entry.summary, problem.detail)
    body = Array(
      """
      <!doctype html>
      <html lang="\(isHosted ? texts.tag : "en")">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="robots" content="noindex">
      <meta name="color-scheme" content="light dark">
      <title>\(HTMLText.escaped(title))</title>
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="/assets/page.css">
      </head>
      <body>
      <main>
      <h1>\(HTMLText.escaped(title))</h1>
      <p>\(HTMLText.escaped(about))</p>
      <p class="hint" lang="en">\(problem.code.rawValue) · \(requestID)</p>
      </main>
      </body>
      </html>

      """.utf8)
    // A relying party that frames its page sees what went wrong there.
    let party = isHosted && segments.count > 1 ? parties[String(segments[1])] : nil
    headers = PageRoutes.scriptFree(framedBy: party?.page == nil ? [] : party?.webOrigins ?? [])
  }

  /// The sentences of one of the hosted page's languages, each of which is written from left to right.
  private struct Texts: Sendable {
    let tag: String
    let gone: String
    let goneAbout: String
    let tryAgain: String

    private static let all: [Texts] = PageAsset.languages.map { language in
      let json = try? JSON(parsing: language.data)
      let text = { (name: String) in json?["text"]?[name]?.string ?? "" }
      return Texts(
        tag: language.tag, gone: text("gone"), goneAbout: text("gone-about"), tryAgain: text("try-again"))
    }

    /// The wanted language (`lang`), else the first of the browser's that there is, else English, as the page chooses.
    static func chosen(for request: HTTPRequest) -> Texts {
      let wanted = request.query.filter { $0.name == "lang" }.map(\.value) + request.headers.values("Accept-Language")
      let tags = wanted.flatMap { $0.split(separator: ",") }.map {
        $0.withoutBlanks.prefix { $0 != "-" && $0 != ";" }.lowercased()
      }
      let found = (tags + ["en"]).lazy.compactMap { tag in all.first { $0.tag == tag } }.first
      return found ?? Texts(tag: "en", gone: "", goneAbout: "", tryAgain: "")
    }
  }
}
