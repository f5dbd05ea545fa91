import Base

/// Every operation of the API. The router and `/openapi.json` are both made from this list.
enum RouteTable {
  static func routes(with additions: ServerAdditions) -> [Route] {
    documented(with: additions).flatMap(\.routes) + additions.pages
  }

  /// The contract: all but what only a page asks for.
  static func documented(with additions: ServerAdditions) -> [RouteGroup] {
    [
      RouteGroup(
        "Sessions", "Verification sessions: what is asked of a person, and what came of it.", SessionRoutes.all),
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

/// Routes under one tag of the document, by which generators group what they make.
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
  /// Every code that the operation can be answered with, in the order of the registry: its own, and those that follow
  /// from how it is reached.
  var allProblems: [Code] {
    var codes: Set<Code> = Set(problems)
    // What the transport refuses, and what may befall anybody.
    codes.formUnion([
      .apiMalformedRequest, .apiBodyTooLarge, .apiHeadersTooLarge, .apiTargetTooLong, .apiOverloaded, .apiInternal,
      .apiUnknownMember, .apiRateLimited,
    ])
    // A name that can be none.
    if !path.variables.isEmpty { codes.insert(.apiNotFound) }
    if case .anyone = access {} else { codes.formUnion([.apiUnauthenticated, .apiForbidden, .apiStoreUnavailable]) }
    if case .none = body {} else { codes.formUnion([.apiUnsupportedMediaType, .apiInvalidRequest]) }
    if takesIdempotencyKey {
      codes.formUnion([.apiInvalidRequest, .apiIdempotencyInProgress, .apiIdempotencyKeyReused, .apiQuotaExceeded])
    }
    return Code.allCases.filter(codes.contains)
  }
}
