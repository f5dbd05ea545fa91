import Base

/// Finds the route of a method and a path.
struct Router: Sendable {
  private let routes: [Route]
  /// The method and path of each route. They are compared apart from the routes, since to pass one of them by copies
  /// almost nothing.
  private let places: [(method: String, path: PathTemplate)]
  /// The pages that anyone may open.
  private let openPages: [PathTemplate]
  /// The first segments of all pages' paths, and that of `/`: a person may come to any path that begins so.
  private let pageFolders: Set<Substring>

  enum Match: Sendable {
    case route(Route, [String: String])
    /// `OPTIONS` on a path that pages may call, with the routes there.
    case preflight([Route])
    /// The path exists, but only for these methods.
    case methodNotAllowed([String])
    case nothing
  }

  init(_ routes: [Route]) {
    self.routes = routes
    places = routes.map { ($0.method.rawValue, $0.path) }
    let pages = routes.filter(\.isPage)
    openPages = pages.filter { if case .anyone = $0.access { true } else { false } }.map(\.path)
    pageFolders = Set(pages.compactMap { PathTemplate.segments(of: $0.path.text).first } + [""])
  }

  /// Whether a person may come to this path, whatever is there: a refusal is then a page.
  func isPage(_ path: String) -> Bool {
    PathTemplate.segments(of: path).first.map(pageFolders.contains) ?? false
  }

  func match(method: String, path: String) -> Match {
    // Split once for all routes: a server that refuses thousands of requests a second does little else.
    var segments = PathTemplate.segments(of: path)
    // With a trailing slash a page that anyone may open is the same page. A proxy's rule may protect the others.
    if segments.last?.isEmpty == true, case let page = segments.dropLast(),
      openPages.contains(where: { $0.match(Array(page)) != nil })
    {
      segments.removeLast()
    }
    // A HEAD is a GET whose body the transport keeps back.
    let wanted = method == "HEAD" ? Route.Method.get.rawValue : method
    for (index, place) in places.enumerated() where place.method == wanted {
      if let parameters = place.path.match(segments) { return .route(routes[index], parameters) }
    }
    let routes = self.routes.filter { $0.path.match(segments) != nil }
    guard !routes.isEmpty else { return .nothing }
    if method == "OPTIONS", routes.contains(where: { $0.isCrossOrigin || $0.isForWallets }) {
      return .preflight(routes)
    }
    return .methodNotAllowed(Self.allowedMethods(of: routes))
  }

  /// Those of the operations; HEAD is answered wherever GET is.
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
/// Requests are compared as received, segment by segment and byte by byte. Nothing is decoded or normalised, so that a
/// proxy's rule about a path and ours cannot mean different resources: `%2e`, `//`, `/./` and a trailing slash match no
/// route. (`Router` takes a slash behind pages that are open to all.)
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

  /// The variables' values; nil if these are the segments of another path.
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

/// Whether the text could be one of our identifiers or the name of a relying party: letters, digits, `_`, `-`
/// and `.`. It must not begin with a dot, since proxies resolve `..`.
func isName(_ text: Substring, upTo bytes: Int = 64) -> Bool {
  (1...bytes).contains(text.utf8.count) && text.first != "." && text.utf8.allSatisfy(\.isNameCharacter)
}

extension UInt8 {
  /// A letter, a digit, `_`, `-` or `.`.
  var isNameCharacter: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// Every operation of the API. The router and `/openapi.json` are both made from this list.
enum RouteTable {
  static func routes(with additions: ServerAdditions) -> [Route] {
    documented(with: additions).flatMap(\.routes) + PageRoutes.all + additions.pages
  }

  /// The routes of the contract: all except those that only a page asks for.
  static func documented(with additions: ServerAdditions) -> [RouteGroup] {
    [
      RouteGroup(
        "Sessions", "Verification sessions: what is asked of a person, and what came of it.",
        SessionRoutes.all + PageDataRoutes.all),
      RouteGroup("Reports", "Which checks an attempt came to, without personal data.", ReportRoutes.all),
      RouteGroup("Events", "What happened, and what webhooks could not be told.", EventRoutes.all),
      RouteGroup("Wallets", "What wallets call by themselves.", WalletRoutes.all),
      RouteGroup("Trust", "Trust anchors.", TrustRoutes.all),
      RouteGroup("Audit", "The chained log of all attempts.", AuditRoutes.all),
      RouteGroup("Configuration", "What the server is set up with.", ConfigurationRoutes.all),
    ] + additions.groups + [
      RouteGroup("Operation", "Health, metrics, and this document.", OperationRoutes.all)
    ]
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
  /// Every code that the operation can be answered with, in the order of the registry: its own codes, and those that
  /// follow from its path, access and body.
  var allProblems: [Code] {
    var codes: Set<Code> = Set(problems)
    // Refusals of the transport, and problems that any request may meet.
    codes.formUnion([
      .apiMalformedRequest, .apiBodyTooLarge, .apiHeadersTooLarge, .apiTargetTooLong,
      .apiOverloaded, .apiInternal, .apiUnknownMember, .apiRateLimited,
    ])
    // The path may have a name that cannot exist.
    if !path.variables.isEmpty { codes.insert(.apiNotFound) }
    if case .anyone = access {} else { codes.formUnion([.apiUnauthenticated, .apiForbidden, .apiStoreUnavailable]) }
    if case .none = body {} else { codes.formUnion([.apiUnsupportedMediaType, .apiInvalidRequest]) }
    if takesIdempotencyKey {
      codes.formUnion([.apiInvalidRequest, .apiIdempotencyInProgress, .apiIdempotencyKeyReused, .apiQuotaExceeded])
    }
    return Code.allCases.filter(codes.contains)
  }
}
