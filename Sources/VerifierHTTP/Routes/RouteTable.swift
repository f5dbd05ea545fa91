import Primitives

/// Every operation of the API. The router and `/openapi.json` are both made from this list.
enum RouteTable {
  /// Live mode has no mock wallet and no page: their routes do not exist there.
  static func routes(isLive: Bool) -> [Route] {
    SessionRoutes.all + ReportRoutes.all + EventRoutes.all + WalletRoutes.all + TrustRoutes.all + AuditRoutes.all
      + ConfigurationRoutes.all
      + (isLive ? [] : MockRoutes.all + PlaygroundRoutes.all)
      + OperationRoutes.all
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
      codes.formUnion([.apiInvalidRequest, .apiIdempotencyInProgress, .apiIdempotencyKeyReused])
    }
    return Code.allCases.filter(codes.contains)
  }
}
