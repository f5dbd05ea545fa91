import Base
import HTTP
import Sessions

/// One operation of the API, as used by the router, the steps and `/openapi.json`.
package final class Route: Sendable {
  package enum Method: String, Sendable { case get = "GET", post = "POST" }

  let method: Method
  let path: PathTemplate
  let name: String
  let summary: String
  let description: String
  let access: Access
  /// Query parameters of the operation. An operation refuses all other parameters. A page ignores them.
  let query: [QueryParameter]
  let body: RequestBody
  let success: Success
  /// The operation's own problem codes, without the codes that follow from its access and body.
  let problems: [Code]
  let urgency: Urgency
  let respond: @Sendable (RouteCall) async throws(ServiceError) -> Reply

  /// - Parameter description: a longer text than the summary; by default, the summary.
  package init(
    _ method: Method, _ path: String, _ name: String, _ summary: String, _ description: String? = nil, access: Access,
    query: [QueryParameter] = [], body: RequestBody = .none, success: Success, problems: [Code] = [],
    urgency: Urgency = .normal, respond: @escaping @Sendable (RouteCall) async throws(ServiceError) -> Reply
  ) {
    self.method = method
    self.path = PathTemplate(path)
    self.name = name
    self.summary = summary
    self.description = description ?? summary + "."
    self.access = access
    self.query = query
    self.body = body
    self.success = success
    self.problems = problems
    self.urgency = urgency
    self.respond = respond
  }

  package enum RequestBody: Sendable {
    case none
    /// No body, or an object without members.
    case empty
    /// JSON of this schema. If `isRequired` is false, the body may be absent.
    case json(Schema, isRequired: Bool, [RequestExample])
    case form(Schema, RequestExample)

    package static func reading<Value>(
      _ shape: Shape<Value>, isRequired: Bool = true, _ examples: [RequestExample]
    ) -> RequestBody {
      .json(shape.schema, isRequired: isRequired, examples)
    }
  }

  package struct Success: Sendable {
    let status: Int
    let mediaType: String
    /// The name of the body's component schema; nil if the body is not JSON.
    let schema: String?

    package static func json(_ schema: String, status: Int = 200) -> Success {
      Success(status: status, mediaType: "application/json", schema: schema)
    }

    /// A reply that is not JSON.
    package static func content(_ mediaType: String) -> Success {
      Success(status: 200, mediaType: mediaType, schema: nil)
    }
  }

  var isPage: Bool { success.mediaType.hasPrefix("text/html") }

  /// True if pages from the relying party's origins may call the route with a client secret.
  var isCrossOrigin: Bool { access.takesClientSecret }

  /// True if wallets call the route for one relying party. If the wallet is a web page, the relying party must permit
  /// its origin.
  var isForWallets: Bool { path.text.hasPrefix(WalletRoutes.path) }

  /// True if the route accepts an `Idempotency-Key`. Only callers with an API key may send one.
  var takesIdempotencyKey: Bool { if case .anyone = access { false } else { method == .post } }
}

package enum Access: Sendable {
  case anyone
  /// An API key with at least one of these scopes.
  case apiKey([Scope])
  /// An API key with at least one of these scopes, or the client secret of the session in the path.
  case apiKeyOrClientSecret([Scope])
  /// A peer that connects over the loopback interface without a proxy, or an API key with `admin` or `server:operate`.
  case operators

  var takesClientSecret: Bool { if case .apiKeyOrClientSecret = self { true } else { false } }

  var scopes: [Scope] {
    switch self {
    case .anyone: []
    case .apiKey(let scopes), .apiKeyOrClientSecret(let scopes): scopes
    case .operators: [.admin, .operate]
    }
  }

  /// Throws `api.forbidden` if the caller lacks the right.
  func check(_ caller: Caller) throws(ServiceError) {
    if case .clientSecret = caller, takesClientSecret { return }
    try caller.require(scopes)
  }
}

/// One request on its way through the steps to its route.
package struct RouteCall: Sendable {
  package let request: HTTPRequest
  let heading: RequestHeading
  let updater: ConfigurationUpdater?
  /// True if the request has a body, even one that has not arrived yet.
  let hasBody: Bool
  var record: RequestRecord
  /// The values of the path's variables, by name.
  var parameters: [String: String] = [:]
  var caller: Caller? {
    didSet {
      record.relyingParty = caller?.relyingParty.id ?? record.relyingParty
      record.apiKey = caller?.keyID
    }
  }
  /// The body as JSON; null for a form, which `form()` reads.
  package var body: JSON = .null
  var idempotency: IdempotencyRequest?

  init(_ request: HTTPRequest, _ heading: RequestHeading, _ updater: ConfigurationUpdater?, hasBody: Bool) {
    self.request = request
    self.heading = heading
    self.updater = updater
    self.hasBody = hasBody
    record = RequestRecord(id: RequestID.make(), method: request.method)
    record.trace = TraceContext(request.headers)
  }

  package var application: Application { heading.application }
  package var service: VerificationService { heading.application.service }

  /// The caller. Throws `api.unauthenticated` if there is none. This happens only on open routes.
  package func authenticated() throws(ServiceError) -> Caller {
    guard let caller else { throw ServiceError(.apiUnauthenticated) }
    return caller
  }

  package var id: String { parameters["id"] ?? "" }

  /// The body as a form. Find the session in the path first, since anyone may post an expensive form.
  func form() throws(ServiceError) -> JSON { try ContentStep.form(request) }

  /// True if `Accept` prefers `text/html` to JSON (RFC 9110, 12.5.1). A wildcard does not count, so a program that
  /// accepts anything gets JSON.
  var prefersPage: Bool {
    let ranges = request.headers.values("Accept").flatMap { $0.split(separator: ",") }.map { range in
      range.split(separator: ";").map { $0.withoutBlanks.lowercased() }
    }
    func quality(_ mediaType: String) -> Double {
      guard let range = ranges.first(where: { $0.first == mediaType }) else { return 0 }
      return range.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
    }
    return quality("text/html") > quality("application/json")
  }

  var query: [QueryItem] { request.query.map { QueryItem($0.name, $0.value) } }
}

struct Router: Sendable {
  private let routes: [Route]
  /// The method and path of each route. They are stored apart from the routes, so that matching copies almost nothing.
  private let heads: [(method: String, path: PathTemplate)]
  private let openPages: [PathTemplate]
  /// The first segments of the paths of all pages, including `/`. People may open any path that begins with one of
  /// these segments.
  private let pageFolders: Set<Substring>

  enum Match: Sendable {
    case route(Route, [String: String])
    /// `OPTIONS` on a path that pages may call, and the routes of this path.
    case preflight([Route])
    /// The path exists, but only for these methods.
    case methodNotAllowed([String])
    case nothing
  }

  init(_ routes: [Route]) {
    self.routes = routes
    heads = routes.map { ($0.method.rawValue, $0.path) }
    let pages = routes.filter(\.isPage)
    openPages = pages.filter { if case .anyone = $0.access { true } else { false } }.map(\.path)
    pageFolders = Set(pages.compactMap { PathTemplate.segments(of: $0.path.text).first } + [""])
  }

  /// True if a person may open this path, even if it does not exist. A refusal is then a page.
  func isPage(_ path: String) -> Bool {
    PathTemplate.segments(of: path).first.map(pageFolders.contains) ?? false
  }

  func match(method: String, path: String) -> Match {
    // Split the path once for all routes: refusals must be cheap.
    var segments = PathTemplate.segments(of: path)
    // A trailing slash is ignored for pages that anyone may open. For other pages a proxy may have a rule for the exact
    // path.
    if segments.last?.isEmpty == true, case let page = segments.dropLast(),
      openPages.contains(where: { $0.match(Array(page)) != nil })
    {
      segments.removeLast()
    }
    // A HEAD is handled as a GET; the transport omits the body.
    let wanted = method == "HEAD" ? Route.Method.get.rawValue : method
    for (index, head) in heads.enumerated() where head.method == wanted {
      if let parameters = head.path.match(segments) { return .route(routes[index], parameters) }
    }
    let routes = self.routes.filter { $0.path.match(segments) != nil }
    guard !routes.isEmpty else { return .nothing }
    if method == "OPTIONS", routes.contains(where: { $0.isCrossOrigin || $0.isForWallets }) {
      return .preflight(routes)
    }
    return .methodNotAllowed(Self.allowedMethods(of: routes))
  }

  /// The methods of the routes, including HEAD for every GET.
  static func methods(of routes: [Route]) -> [String] {
    routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
  }

  static func allowedMethods(of routes: [Route]) -> [String] {
    let methods = methods(of: routes)
    return routes.contains(where: \.isCrossOrigin) ? methods + ["OPTIONS"] : methods
  }
}

/// A path with variable segments: `/v1/verification_sessions/{id}`.
///
/// Paths are compared byte by byte, as received. A path thus identifies the same resource in a proxy's rules and in
/// this server. Thus `%2e`, `//`, `/./` and a trailing slash match no route (but see `Router`).
package struct PathTemplate: Sendable, Hashable {
  let text: String
  private let segments: [Segment]

  private enum Segment: Sendable, Hashable {
    case literal(Substring)
    case variable(String)
  }

  package init(_ text: String) {
    self.text = text
    segments = Self.segments(of: text).map { segment in
      segment.first == "{" && segment.last == "}"
        ? .variable(String(segment.dropFirst().dropLast())) : .literal(segment)
    }
  }

  var variables: [String] {
    segments.compactMap { if case .variable(let name) = $0 { name } else { nil } }
  }

  /// The values of the variables; nil if the segments do not match this path.
  func match(_ given: [Substring]) -> [String: String]? {
    guard given.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, text) in zip(segments, given) {
      switch segment {
      case .literal(let expected): guard text == expected else { return nil }
      case .variable(let name):
        guard isName(text, upTo: 80) else { return nil }
        values[name] = String(text)
      }
    }
    return values
  }

  /// The parts between a path's slashes; empty if the path does not begin with a slash.
  static func segments(of path: String) -> [Substring] {
    guard path.utf8.first == UInt8(ascii: "/") else { return [] }
    return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }
}

/// True if the text has the form of an identifier: letters, digits, `_`, `-` and `.`. It may not begin with a dot, so
/// `..` is excluded.
func isName(_ text: Substring, upTo bytes: Int = 64) -> Bool {
  (1...bytes).contains(text.utf8.count) && text.first != "." && text.utf8.allSatisfy(\.isNameCharacter)
}

extension UInt8 {
  /// True for a letter, a digit, `_`, `-` or `.`.
  var isNameCharacter: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }
}

/// Every operation of the API. The router and `/openapi.json` are both made from this list.
enum RouteTable {
  static func routes(with additions: ServerAdditions) -> [Route] {
    documented(with: additions).flatMap(\.routes) + PageRoutes.all + DocumentationRoutes.all + additions.pages
  }

  /// The routes of the contract: all except the files of pages.
  static func documented(with additions: ServerAdditions) -> [RouteGroup] {
    [
      RouteGroup(
        "Sessions", "Verification sessions: requests to a person, and their results.",
        SessionRoutes.all + PageDataRoutes.all),
      RouteGroup(
        "Verifications", "Verdicts on responses that you received yourself.", SessionRoutes.verifications),
      RouteGroup("Reports", "The checks of an attempt, without personal data.", SessionRoutes.reports),
      RouteGroup("Events", "Events, and their deliveries to webhooks.", EventRoutes.all),
      RouteGroup("Wallets", "Operations that wallets call.", WalletRoutes.all),
      RouteGroup("Trust", "Trust anchors.", TrustRoutes.all),
      RouteGroup("Audit", "The chained log of all attempts.", AuditRoutes.all),
      RouteGroup("Configuration", "The server's configuration.", ConfigurationRoutes.all),
    ] + additions.groups + [RouteGroup("Operation", "Health, metrics, and this document.", OperationRoutes.all)]
  }
}

/// Routes under one tag of the document. Generators group their code by these tags.
package struct RouteGroup: Sendable {
  let tag: String
  let summary: String
  let routes: [Route]

  package init(_ tag: String, _ summary: String, _ routes: [Route]) {
    self.tag = tag
    self.summary = summary
    self.routes = routes
  }
}

extension Route {
  /// Every code in the operation's replies, in the registry's order.
  var allProblems: [Code] {
    var codes: Set<Code> = Set(problems)
    // Codes of the transport's refusals, and of problems that any request can have.
    codes.formUnion([
      .apiMalformedRequest, .apiBodyTooLarge, .apiHeadersTooLarge, .apiTargetTooLong,
      .apiOverloaded, .apiInternal, .apiUnknownMember, .apiRateLimited,
    ])
    // The path may contain an invalid id.
    if !path.variables.isEmpty { codes.insert(.apiNotFound) }
    if case .anyone = access {} else { codes.formUnion([.apiUnauthenticated, .apiForbidden, .apiStoreUnavailable]) }
    if case .none = body {} else { codes.formUnion([.apiUnsupportedMediaType, .apiInvalidRequest]) }
    if takesIdempotencyKey {
      codes.formUnion([.apiInvalidRequest, .apiIdempotencyInProgress, .apiIdempotencyKeyReused, .apiQuotaExceeded])
    }
    return Code.allCases.filter(codes.contains)
  }
}
