import HTTP
import Sessions

/// Cross-origin calls of pages (the Fetch standard's CORS protocol): submit, cancel and GET of one session, with its client
/// secret, from the relying party's configured origins, and nothing else. There is no `*`, and no credentials mode:
/// the secret is a header.
struct CrossOrigin: Sendable {
  private let origins: Set<String>

  /// All configured origins: a preflight carries no credential, so that it cannot say whose page asks.
  init(_ parties: RelyingParties) { origins = Set(parties.all.flatMap(\.origins)) }

  /// The answer to `OPTIONS`: the permission to try, or nothing, in which case the browser sends no request.
  func preflight(_ request: HTTPRequest, _ routes: [Route]) -> Answer {
    var answer = Answer(status: 204, mediaType: "", body: [])
    answer.headers = [("Allow", Router.allowedMethods(of: routes).joined(separator: ", ")), Self.vary]
    let methods = routes.filter(\.isCrossOrigin).map(\.method.rawValue)
    guard let origin = request.headers.single("Origin"), origins.contains(origin),
      let method = request.headers.single("Access-Control-Request-Method"), methods.contains(method)
    else { return answer }
    answer.headers += [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
      ("Access-Control-Allow-Headers", "Authorization, Content-Type"), ("Access-Control-Max-Age", "600"),
    ]
    return answer
  }

  /// Headers of the reply to the call itself, problems included. What is refused before it is known who asks is a
  /// problem that says nothing of any session: as a preflight's answer it is for the pages of all relying parties, which
  /// would else see a 429 or 503 as a broken network, and no `Retry-After`.
  func headers(_ request: HTTPRequest, _ route: Route, _ caller: Caller?) -> [(name: String, value: String)] {
    guard route.isCrossOrigin else { return [] }
    guard let origin = request.headers.single("Origin"), isAllowed(origin, caller) else { return [Self.vary] }
    return [
      Self.vary, ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", "Request-Id, Retry-After"),
    ]
  }

  private func isAllowed(_ origin: String, _ caller: Caller?) -> Bool {
    switch caller {
    case nil: origins.contains(origin)
    case .clientSecret(_, let party): party.origins.contains(origin)
    default: false
    }
  }

  private static let vary = (name: "Vary", value: "Origin")
}
