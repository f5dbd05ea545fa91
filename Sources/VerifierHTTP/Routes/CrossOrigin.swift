import VerificationService

/// Cross-origin calls of pages (the Fetch standard's CORS protocol): submit and GET of one session, with its client
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

  /// Headers of the reply to the call itself, problems included.
  static func headers(_ request: HTTPRequest, _ route: Route, _ caller: Caller?) -> [(name: String, value: String)] {
    guard route.isCrossOrigin else { return [] }
    guard case .clientSecret(_, let party) = caller, let origin = request.headers.single("Origin"),
      party.origins.contains(origin)
    else { return [vary] }
    return [
      vary, ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", "Request-Id, Retry-After"),
    ]
  }

  private static let vary = (name: "Vary", value: "Origin")
}
