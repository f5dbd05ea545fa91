import Primitives
import VerificationService

/// What a request's header says: where it goes, and who sends it as far as that needs no store. Found out once, with the
/// configuration that then answers the request to its end.
struct RequestHeading: Sendable {
  let application: Application
  let match: Router.Match
  /// Of the `Authorization` header; a fault where that has none.
  let token: Result<String, ServiceError>
  /// The relying party whose API key the token is.
  let keyHolder: Caller?
  /// Whose rate it counts for.
  let counted: RateLimiter.Caller

  init(_ request: HTTPRequest, _ router: Router, _ application: Application) {
    self.application = application
    match = router.match(method: request.method, path: request.path)
    token = Result { () throws(ServiceError) in try BearerToken.read(request.headers) }
    let text = try? token.get()
    let hash = text.map(APIKey.hash)
    keyHolder = hash.flatMap { application.service.relyingParties.owner(ofKeyHash: $0, at: application.clock()) }
    if let hash, keyHolder != nil {
      counted = .key(hash)
    } else {
      let secret = text.flatMap { ClientSecret($0)?.text }
      let address = application.edge.proxy.address(of: request)
      if case .route(_, let parameters) = match {
        counted = .other(session: secret ?? parameters["session"], address)
      } else {
        counted = .other(session: secret, address)
      }
    }
  }
}
