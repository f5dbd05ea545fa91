/// Finds the route of a method and a path.
struct Router: Sendable {
  private let routes: [Route]
  /// What is compared, apart from the routes: to pass one of these by copies next to nothing.
  private let places: [(method: String, path: PathTemplate)]

  enum Match: Sendable {
    case route(Route, [String: String])
    /// `OPTIONS` on a path that pages may call: the routes there.
    case preflight([Route])
    /// The path exists, for these methods.
    case methodNotAllowed([String])
    case nothing
  }

  init(_ routes: [Route]) {
    self.routes = routes
    places = routes.map { ($0.method.rawValue, $0.path) }
  }

  func match(method: String, path: String) -> Match {
    // Once for all routes: a server that refuses thousands a second does little else.
    let segments = PathTemplate.segments(of: path)
    // A HEAD is a GET whose body the transport keeps back.
    let wanted = method == "HEAD" ? Route.Method.get.rawValue : method
    for (index, place) in places.enumerated() where place.method == wanted {
      if let parameters = place.path.match(segments) { return .route(routes[index], parameters) }
    }
    let routes = self.routes.filter { $0.path.match(segments) != nil }
    guard !routes.isEmpty else { return .nothing }
    if method == "OPTIONS", routes.contains(where: \.isCrossOrigin) { return .preflight(routes) }
    return .methodNotAllowed(Self.allowedMethods(of: routes))
  }

  static func allowedMethods(of routes: [Route]) -> [String] {
    var methods = routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
    if routes.contains(where: \.isCrossOrigin) { methods.append("OPTIONS") }
    return methods
  }
}
