import Base
import HTTP
import Pages
import Sessions

/// A refusal (RFC 9457), made from a code of the registry.
enum Problem {
  static let mediaType = "application/problem+json"

  static let shape = Shape<(error: ServiceError, requestID: String)>.open(
    "Problem", "The refusal of a request (RFC 9457).",
    [
      .always(
        "type", { "urn:mdoc:problem:\($0.error.code.rawValue)" }, .written(like: "^urn:mdoc:problem:[a-z0-9_.]+$"),
        "Identifies the problem. It cannot be opened as a web address."),
      .always("title", \.error.code.entry.summary, .written(), "The code in words."),
      .always("status", \.error.httpStatus, .count, "The HTTP status."),
      .always("detail", \.error.detail, .written(), "The error in this request, or its remedy."),
      .always(
        "code", \.error.code.rawValue,
        .code(
          "ProblemCode", Code.allCases.filter { $0.httpStatus >= 400 }, "A code that states the reason for a refusal."),
        "The reason for the refusal; each reply lists its own codes."),
      .always(
        "documentation_url", { CodePage.path(of: $0.error.code) }, .written(),
        "A page about the code, below this server's address."),
      .always("request_id", \.requestID, .written(), "Identifies this request in the server's log, like `Request-Id`."),
      .ifAny(
        "errors", { $0.error.pointers.isEmpty ? nil : $0.error.pointers }, pointer.list,
        "The faulty members, at most \(Limits.reportedFaults)."),
    ])

  private static let pointer = Shape<ServiceError.PointedDetail>.open(
    "ProblemPointer", "One faulty member.",
    [
      .always("pointer", \.pointer, .written(), "The member, as a JSON pointer (RFC 6901); empty for the whole body."),
      .always("detail", \.detail, .written(), "The error in it."),
    ])
}

extension Reply {
  init(refusing error: ServiceError, requestID: String) {
    self.init(error.httpStatus, json: Problem.shape.write((error, requestID)))
    mediaType = Problem.mediaType
    code = error.code
    refusal = error
    // Every 503 states when to retry.
    let retryAfter = error.retryAfter ?? (error.httpStatus == 503 ? 1 : nil)
    if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
    if error.code == .apiUnauthenticated { headers.append(("WWW-Authenticate", "Bearer realm=\"mdoc\"")) }
    if error.code == .apiForbidden {
      headers.append(("WWW-Authenticate", "Bearer realm=\"mdoc\", error=\"insufficient_scope\""))
    }
  }
}

extension ServiceError {
  init(_ error: HTTPError) {
    func tooLarge(_ code: Code, _ limit: Int) -> ServiceError {
      ServiceError(code, "\(code.entry.summary): \(limit) bytes.")
    }
    self =
      switch error {
      case .malformed(let rule): ServiceError(.apiMalformedRequest, "The request is malformed: \(rule).")
      case .bodyTooLarge(let limit): tooLarge(.apiBodyTooLarge, limit)
      case .targetTooLong(let limit): tooLarge(.apiTargetTooLong, limit)
      case .headersTooLarge(let limit): tooLarge(.apiHeadersTooLarge, limit)
      case .overloaded(_, let seconds): ServiceError(.apiOverloaded, retryAfter: seconds)
      case .rateLimited(let seconds): ServiceError(.apiRateLimited, retryAfter: seconds)
      case .shuttingDown: ServiceError(.apiOverloaded, "The server is stopping.", retryAfter: 1)
      }
  }
}

/// `/codes/{code}`: the page that a problem links to.
enum CodePage {
  private static let mediaType = "text/plain; charset=utf-8"

  static func path(of code: Code) -> String { "/codes/\(code.rawValue)" }

  static let route = Route(
    .get, "/codes/{code}", "getCode", "Read the explanation of a code",
    "The page that a problem's `documentation_url` links to: summary, clause, status and remedy.",
    access: .anyone, success: .content(mediaType), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard let code = Code(rawValue: call.parameters["code"] ?? "") else { throw ServiceError(.apiNotFound) }
    let entry = code.entry
    let lines = [
      code.rawValue, "", entry.summary + ".", "Clause: \(entry.clause)", "HTTP status: \(code.httpStatus)", "",
      entry.remedy,
    ]
    return Reply(mediaType, Array((lines.joined(separator: "\n") + "\n").utf8))
  }
}

/// A refusal for a person. The path decides whether to show it (`Router.isPage`), since a program may send any
/// `Accept`. Below `/verify/` the page is in the person's language. Elsewhere it shows the problem to an operator.
struct ErrorPage: Sendable {
  static let mediaType = PageAsset.page.mediaType

  let body: [UInt8]
  let headers: [(name: String, value: String)]

  init(_ error: ServiceError, _ request: HTTPRequest, _ requestID: String, _ parties: RelyingParties) {
    let segments = PathTemplate.segments(of: request.path)
    let isHosted = segments.first == "verify"
    let texts = Texts.chosen(for: request)
    let passes = error.httpStatus == 429 || error.httpStatus >= 500
    let (title, about) =
      isHosted
      ? (passes ? texts.tryAgain : texts.gone, passes ? "" : texts.goneAbout)
      : (error.code.entry.summary, error.detail)
    body = HTMLText.page(
      title, language: isHosted ? texts.tag : "en", style: "page.css", meta: #"<meta name="robots" content="noindex">"#,
      """
      <main>
      <h1>\(HTMLText.escaped(title))</h1>
      <p>\(HTMLText.escaped(about))</p>
      <p class="soft" lang="en">\(error.code.rawValue) · \(requestID)</p>
      </main>
      """)
    // A relying party that frames the page must also see the page's errors.
    let party = isHosted && segments.count > 1 ? parties[String(segments[1])] : nil
    headers = PageRoutes.scriptFree(framedBy: party?.page == nil ? [] : party?.webOrigins ?? [])
  }

  /// The sentences in one of the hosted page's languages. All these languages are written from left to right.
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

    /// The language of `lang`, otherwise the browser's first supported language, otherwise English. The hosted page
    /// uses the same rule.
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
