import Base
import HTTP
import Sessions

/// One operation of the API: everything that the router, the handler's pipeline and `/openapi.json` know of it.
///
/// The table of routes is data, so that what is documented is what is enforced: the pipeline checks access, query and
/// body by these members before `respond` runs.
package struct Route: Sendable {
  package enum Method: String, Sendable { case get = "GET", post = "POST" }

  let method: Method
  let path: PathTemplate
  /// The operation's name in OpenAPI.
  let name: String
  /// In the imperative, without a full stop.
  let summary: String
  /// Tells a caller more than the summary does; repeats the summary if there is no more to tell.
  let description: String
  let access: Access
  /// Query parameters that the operation takes; all others are refused, or ignored by a page.
  let query: [QueryParameter]
  let body: RequestBody
  let success: Success
  /// The operation's own codes, besides those that follow from access and body.
  let problems: [Code]
  let urgency: Urgency
  let respond: @Sendable (RouteCall) async throws(ServiceError) -> Answer

  package init(
    method: Method, path: PathTemplate, name: String, summary: String, description: String? = nil, access: Access,
    query: [QueryParameter] = [], body: RequestBody = .none, success: Success, problems: [Code] = [],
    urgency: Urgency = .normal,
    respond: @escaping @Sendable (RouteCall) async throws(ServiceError) -> Answer
  ) {
    self.method = method
    self.path = path
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

  /// How the operation is treated under load.
  package enum Urgency: Sendable {
    /// Always answered, whatever the load is and whoever asks.
    case essential
    case normal
    /// Begins something, so it is the first to be refused.
    case deferrable
  }

  package struct QueryParameter: Sendable {
    let name: String
    let summary: String
    let schema: Schema
    var isRequired = false
  }

  package enum RequestBody: Sendable {
    /// The operation reads no body.
    case none
    /// No body, or an object without members.
    case empty
    /// JSON of this schema. If it is not required, there may be no body.
    case json(Schema, isRequired: Bool, [RequestExample])
    /// A form of this schema.
    case form(Schema, RequestExample)

    /// JSON that the operation reads by this form.
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

    package static func json(_ status: Int = 200, _ schema: String) -> Success {
      Success(status: status, mediaType: "application/json", schema: schema)
    }

    /// A reply that is not JSON.
    package static func content(_ mediaType: String) -> Success {
      Success(status: 200, mediaType: mediaType, schema: nil)
    }
  }

  /// Whether a person opens it in a browser.
  var isPage: Bool { success.mediaType.hasPrefix("text/html") }

  /// Whether pages may call it, with a client secret, from an origin of the relying party.
  var isCrossOrigin: Bool { access.takesClientSecret }

  /// Whether wallets call it, for one relying party: those that are web pages too, where it says so.
  var isForWallets: Bool { path.text.hasPrefix(WalletRoutes.path) }

  /// Whether it takes an `Idempotency-Key`. Only a caller with an API key has such keys, so an operation that is open
  /// to anyone takes none.
  var takesIdempotencyKey: Bool {
    if case .anyone = access { false } else { method == .post }
  }
}

/// Who may call an operation.
package enum Access: Sendable {
  case anyone
  /// An API key with at least one of these scopes.
  case apiKey([Scope])
  /// An API key with at least one of these scopes, or the client secret of the session in the path.
  case apiKeyOrClientSecret([Scope])
  /// A peer on the loopback interface without a proxy between, or an API key with `admin` or `server:operate`.
  case operators

  var takesClientSecret: Bool { if case .apiKeyOrClientSecret = self { true } else { false } }

  var scopes: [Scope] {
    switch self {
    case .anyone: []
    case .apiKey(let scopes), .apiKeyOrClientSecret(let scopes): scopes
    case .operators: [.admin, .operate]
    }
  }

  /// Checks that the caller has the right to call.
  ///
  /// - Throws: `api.forbidden` if it has not.
  func check(_ caller: Caller) throws(ServiceError) {
    switch caller {
    case .clientSecret where takesClientSecret: return
    case .apiKey(_, let scopes, _) where !scopes.isDisjoint(with: self.scopes): return
    default:
      let names = scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      throw ServiceError(.apiForbidden, "This needs an API key with the scope \(names).")
    }
  }
}

/// One request on its way through its operation.
package struct RouteCall: Sendable {
  package let request: HTTPRequest
  /// The values of the path's variables, by name.
  let parameters: [String: String]
  let caller: Caller?
  /// The body as JSON; null for a form, which `form()` reads.
  package let body: JSON
  let idempotency: IdempotencyRequest?
  /// The application that was in force when the request began.
  package let application: Application
  /// Puts another application in force; nil if the server has no updater.
  var updater: ConfigurationUpdater?

  /// The caller, which every route has that is not open to anyone.
  ///
  /// - Throws: `api.unauthenticated` if there is none.
  package func authenticated() throws(ServiceError) -> Caller {
    guard let caller else { throw ServiceError(.apiUnauthenticated) }
    return caller
  }

  var id: String { parameters["id"] ?? "" }

  /// The body as a form. Anybody may post one, and its sender decides what it costs to read. So it is read only when it
  /// is needed, after the session that it is posted to was found.
  func form() throws(ServiceError) -> JSON { try RequestContent.form(request) }

  var query: [QueryItem] { request.query.map { QueryItem($0.name, $0.value) } }
}
