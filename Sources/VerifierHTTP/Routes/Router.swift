/// Finds the route of a method and a path.
struct Router: Sendable {
  private let routes: [Route]

  enum Match: Sendable {
    case route(Route, [String: String])
    /// `OPTIONS` on a path that pages may call: the routes there.
    case preflight([Route])
    /// The path exists, for these methods.
    case methodNotAllowed([String])
    case nothing
  }

  init(_ routes: [Route]) { self.routes = routes }

  func match(method: String, path: String) -> Match {
    // Once for all routes: a server that refuses thousands a second does little else.
    let segments = PathTemplate.segments(of: path)
    let found = routes.compactMap { route in route.path.match(segments).map { (route, $0) } }
    guard !found.isEmpty else { return .nothing }
    // A HEAD is a GET whose body the transport keeps back.
    let wanted = method == "HEAD" ? Route.Method.get.rawValue : method
    if let (route, parameters) = found.first(where: { $0.0.method.rawValue == wanted }) {
      return .route(route, parameters)
    }
    let routes = found.map(\.0)
    if method == "OPTIONS", routes.contains(where: \.isCrossOrigin) { return .preflight(routes) }
    return .methodNotAllowed(Self.allowedMethods(of: routes))
  }

  static func allowedMethods(of routes: [Route]) -> [String] {
    var methods = routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
    if routes.contains(where: \.isCrossOrigin) { methods.append("OPTIONS") }
    return methods
  }
}
