import Base
import HTTP
import Sessions

/// What a request's header says: where it goes, and who sends it as far as that needs no store. Found out once; anew only
/// where another configuration is in force when the request is here.
struct RequestHeading: Sendable {
  let application: Application
  let match: Router.Match
  /// Of the `Authorization` header; a fault where that has none.
  let token: Result<String, ServiceError>
  /// The token's SHA-256.
  private let hash: [UInt8]?
  /// Whose rate it counts for.
  let counted: RateLimiter.Caller

  init(_ request: HTTPRequest, _ router: Router, _ application: Application) {
    self.application = application
    match = router.match(method: request.method, path: request.path)
    token = Result { () throws(ServiceError) in try BearerToken.read(request.headers) }
    let text = try? token.get()
    hash = text.map(APIKey.hash)
    if let hash, Self.holder(of: hash, application) != nil {
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

  /// The relying party whose API key the token is, now: a key may come to its end while a body is on its way.
  var keyHolder: Caller? { hash.flatMap { Self.holder(of: $0, application) } }

  private static func holder(of hash: [UInt8], _ application: Application) -> Caller? {
    application.service.relyingParties.owner(ofKeyHash: hash, at: application.clock())
  }
}
