import Base
import HTTP
import Sessions

/// One step in the handling of every request with a route. `APIHandler.steps` lists the steps in order.
protocol RequestStep: Sendable {
  /// The name in `/metrics` of the step's counter; nil if the step has none.
  var metric: String? { get }

  /// Refuses a request before it waits for anything. Called on a thread that reads sockets.
  func count(_ heading: RequestHeading) throws(HTTPError)
  /// Checks the header. Called on a thread that reads sockets before a body is accepted, and again with the whole
  /// request.
  func checkHeader(_ call: inout RouteCall, _ route: Route) throws(ServiceError)
  /// Performs the checks that need the whole request or the store.
  func checkWhole(_ call: inout RouteCall, _ route: Route) async throws(ServiceError)
  func finish(_ reply: inout Reply, _ call: RouteCall, _ route: Route)
}

extension RequestStep {
  var metric: String? { nil }
  func count(_ heading: RequestHeading) throws(HTTPError) {}
  func checkHeader(_ call: inout RouteCall, _ route: Route) throws(ServiceError) {}
  func checkWhole(_ call: inout RouteCall, _ route: Route) async throws(ServiceError) {}
  func finish(_ reply: inout Reply, _ call: RouteCall, _ route: Route) {}
}

struct RateStep: RequestStep {
  var metric: String? { "mdoc_http_rate_limited_total" }

  func count(_ heading: RequestHeading) throws(HTTPError) {
    guard let refusal = heading.limiter.refusal(of: heading.counted, at: Deadline.now()) else { return }
    heading.application.metrics.limited(refusal.subject)
    throw .rateLimited(retryAfter: refusal.retryAfter)
  }
}

/// Finds the caller by its credential. A wrong credential counts as several requests of its sender.
struct CredentialStep: RequestStep {
  var metric: String? { "mdoc_http_failed_authentications_total" }

  /// Recognizes API keys. Any other token may be a client secret: only the store knows.
  func checkHeader(_ call: inout RouteCall, _ route: Route) throws(ServiceError) {
    if isOpen(route, call) { return }
    let token = try call.heading.token.get()
    call.caller = call.heading.keyHolder
    if call.caller == nil, ClientSecret(token) == nil { throw ServiceError(.apiUnauthenticated) }
  }

  func checkWhole(_ call: inout RouteCall, _ route: Route) async throws(ServiceError) {
    if call.caller != nil || isOpen(route, call) { return }
    call.caller = try await call.service.authenticate(bearer: call.heading.token.get())
  }

  func finish(_ reply: inout Reply, _ call: RouteCall, _ route: Route) {
    guard reply.code == .apiUnauthenticated else { return }
    let address = call.application.edge.proxy.address(of: call.request)
    call.heading.limiter.noteFailedAuthentication(from: address, at: Deadline.now())
  }

  /// True if this request needs no credential.
  private func isOpen(_ route: Route, _ call: RouteCall) -> Bool {
    switch route.access {
    case .anyone: true
    case .operators: isLocal(call.request, call.application)
    case .apiKey, .apiKeyOrClientSecret: false
    }
  }

  /// True for a process on this machine, but not for a page of another site. Behind a proxy it is false: any peer may
  /// be the proxy.
  private func isLocal(_ request: HTTPRequest, _ application: Application) -> Bool {
    !application.isBehindProxy && ListenAddress.isLoopback(request.remoteAddress)
      && !request.headers.contains("X-Forwarded-For") && !request.headers.contains("Forwarded")
      && request.headers.single("Host").map(ListenAddress.isThisMachine) ?? false
  }
}

/// Enforces the route's scopes. No other code enforces them.
struct RightsStep: RequestStep {
  var metric: String? { "mdoc_http_refusals_total" }

  func checkHeader(_ call: inout RouteCall, _ route: Route) throws(ServiceError) {
    if let caller = call.caller { try route.access.check(caller) }
  }
}

/// Checks query names, and reads the body and the `Idempotency-Key`.
struct ContentStep: RequestStep {
  var metric: String? { "mdoc_http_refusals_total" }

  func checkHeader(_ call: inout RouteCall, _ route: Route) throws(ServiceError) {
    try Self.checkQuery(call.request, route)
    try Self.checkType(call.request, route, hasBody: call.hasBody)
  }

  func checkWhole(_ call: inout RouteCall, _ route: Route) async throws(ServiceError) {
    call.body = try Self.body(call.request, route)
    call.idempotency = try Self.idempotency(call.request, route, call.caller)
  }

  /// A page ignores unknown parameters. People share its address, and other services append parameters (`utm_source`,
  /// `fbclid`).
  private static func checkQuery(_ request: HTTPRequest, _ route: Route) throws(ServiceError) {
    if route.isPage { return }
    for item in request.query where !route.query.contains(where: { $0.name == item.name }) {
      let isList = route.query.contains { $0.name == item.name + "[]" }
      let hint = isList ? "; write it as `\(item.name)[]`" : ""
      throw ServiceError(.apiUnknownMember, "Unknown query parameter `\(item.name)`\(hint).")
    }
  }

  /// Checks the header fields that describe the body. The body itself may not have arrived.
  private static func checkType(_ request: HTTPRequest, _ route: Route, hasBody: Bool) throws(ServiceError) {
    switch route.body {
    case .none: return
    // A form without fields may have no body. It then needs no `Content-Type`.
    case .form where !hasBody && !request.headers.contains("Content-Type"): return
    case .form: try checkType(request, FormBody.mediaType)
    case .empty where !hasBody, .json(_, isRequired: false, _) where !hasBody: return
    case .json, .empty: try checkType(request, "application/json")
    }
    if let coding = request.headers.values("Content-Encoding").first, coding.lowercased() != "identity" {
      throw ServiceError(.apiUnsupportedMediaType, "Send the body without a Content-Encoding.")
    }
  }

  /// The body as JSON; null for a form, which `RouteCall.form` reads.
  static func body(_ request: HTTPRequest, _ route: Route) throws(ServiceError) -> JSON {
    switch route.body {
    case .none, .form: return .null
    case .json(_, let isRequired, _):
      return !isRequired && request.body.isEmpty ? [:] : try json(request)
    case .empty:
      if request.body.isEmpty { return .null }
      let json = try json(request)
      try nothing.value(of: json)
      return json
    }
  }

  private static let nothing = Shape<Void>.object("Nothing", "No members.", {})

  /// The `Idempotency-Key` of a POST with an API key; nil if the header is absent or the caller uses a client secret.
  private static func idempotency(
    _ request: HTTPRequest, _ route: Route, _ caller: Caller?
  ) throws(ServiceError) -> IdempotencyRequest? {
    guard route.method == .post, case .apiKey = caller, request.headers.contains("Idempotency-Key") else { return nil }
    guard let key = request.headers.single("Idempotency-Key"), (1...255).contains(key.utf8.count),
      key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw ServiceError(
        .apiInvalidRequest, "Send the Idempotency-Key once, with 1 to 255 visible ASCII characters.")
    }
    return IdempotencyRequest(key: key, method: request.method, path: request.path, body: request.body)
  }

  private static func json(_ request: HTTPRequest) throws(ServiceError) -> JSON {
    let most = Limits.requestJSONValues
    let json: JSON
    do throws(JSON.SyntaxError) {
      json = try JSON(parsing: request.body, values: most)
    } catch {
      guard error.hasTooManyValues else { throw ServiceError(.apiMalformedRequest, "The body \(error).") }
      throw ServiceError(.apiBodyTooLarge, "The body has more than \(most) JSON values.")
    }
    return try held(json, of: request)
  }

  static func form(_ request: HTTPRequest) throws(ServiceError) -> JSON {
    try held(FormBody.read(request.body), of: request)
  }

  /// Counts the memory of a decoded body. Both the body and its decoded form are held until the reply is written.
  private static func held(_ json: JSON, of request: HTTPRequest) throws(ServiceError) -> JSON {
    guard request.hold?.take(json.memoryBytes) ?? true else { throw ServiceError(.apiOverloaded, retryAfter: 1) }
    return json
  }

  private static func checkType(_ request: HTTPRequest, _ expected: String) throws(ServiceError) {
    guard let type = request.headers.single("Content-Type"), isType(type, expected) else {
      throw ServiceError(.apiUnsupportedMediaType, "Send this body with `Content-Type: \(expected)`.")
    }
  }

  /// True for the media type, without parameters or with `charset=utf-8` (RFC 9110, 8.3.1).
  private static func isType(_ type: String, _ expected: String) -> Bool {
    let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
    guard let first = parts.first, first == expected else { return false }
    return parts.count == 1 || (parts.count == 2 && ["charset=utf-8", "charset=\"utf-8\""].contains(parts[1]))
  }
}

extension Substring {
  /// The text without surrounding white space (RFC 9110, 5.6.3).
  var withoutBlanks: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
}

/// A wallet's form (`application/x-www-form-urlencoded`). Duplicate names and malformed encodings are refused.
enum FormBody {
  static let mediaType = "application/x-www-form-urlencoded"

  /// A JSON object of strings; empty if the form has no fields.
  static func read(_ body: [UInt8]) throws(ServiceError) -> JSON {
    // Limit the number of fields and the length of names before decoding. The sender is not yet known.
    guard body.count(where: { $0 == UInt8(ascii: "&") }) < Limits.formFields else {
      throw ServiceError(.apiInvalidRequest, "The form has more than \(Limits.formFields) fields.")
    }
    for field in body.split(separator: UInt8(ascii: "&"))
    where field.prefix(Limits.formNameBytes + 1).firstIndex(of: UInt8(ascii: "=")) == nil
      && field.count > Limits.formNameBytes
    {
      throw ServiceError(.apiInvalidRequest, "A name in the form has more than \(Limits.formNameBytes) bytes.")
    }
    guard body.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let fields = FormEncoding.members(of: String(decoding: body, as: UTF8.self)[...])
    else {
      throw ServiceError(.apiMalformedRequest, "The form must be percent-encoded UTF-8 without white space.")
    }
    var names: Set<UTF8Key> = []
    for field in fields where !names.insert(UTF8Key(field.name)).inserted {
      throw ServiceError(
        .apiInvalidRequest,
        pointers: [.init(pointer: "/" + JSONPointer.escape(field.name), detail: "is a duplicate")])
    }
    return .object(fields.map { JSON.Member($0.name, .string($0.value)) })
  }
}

/// The token of an `Authorization: Bearer` header (RFC 6750, 2.1).
enum BearerToken {
  private static let scheme = "bearer "

  /// - Throws: `api.unauthenticated` if the header is absent, repeated, of another scheme or without a valid token.
  static func read(_ headers: HTTPHeaders) throws(ServiceError) -> String {
    guard let header = headers.single("Authorization"), header.utf8.count > scheme.utf8.count,
      header.prefix(scheme.count).lowercased() == scheme
    else { throw ServiceError(.apiUnauthenticated) }
    let token = String(header.dropFirst(scheme.count))
    guard token.utf8.count <= 512, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ServiceError(.apiUnauthenticated)
    }
    return token
  }
}

struct CrossOriginStep: RequestStep {
  func finish(_ reply: inout Reply, _ call: RouteCall, _ route: Route) {
    reply.headers += call.application.crossOrigin.headers(call.request, route, call.caller)
  }
}

/// CORS (Fetch standard), without credentials. A page from the relying party's `origins` may call submit, cancel and
/// GET of one session, with that session's client secret. Pages of its `wallet_origins` may call the wallets' routes.
struct CrossOrigin: Sendable {
  private let origins: Set<String>
  /// The allowed origins of wallets' pages, by the relying party's id; `*` means any origin.
  private let walletOrigins: [String: Set<String>]

  /// Accepts the origins of all relying parties. A preflight has no credential, so its relying party is unknown.
  init(_ parties: RelyingParties) {
    origins = Set(parties.all.flatMap(\.webOrigins))
    walletOrigins = Dictionary(uniqueKeysWithValues: parties.all.map { ($0.id, Set($0.openID4VP.walletOrigins)) })
  }

  /// The reply to `OPTIONS`; nil if no page may call these routes.
  func preflight(_ request: HTTPRequest, _ routes: [Route]) -> Reply? {
    let routes = routes.filter { isOpen($0, to: request) }
    guard let first = routes.first else { return nil }
    var reply = Reply("", [])
    reply.status = 204
    reply.headers = [("Allow", Router.allowedMethods(of: routes).joined(separator: ", ")), Self.vary]
    let methods = Router.methods(of: routes)
    guard let origin = allowedOrigin(request, first, nil),
      let method = request.headers.single("Access-Control-Request-Method"), methods.contains(method)
    else { return reply }
    reply.headers += [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
      ("Access-Control-Allow-Headers", first.isForWallets ? "Content-Type" : "Authorization, Content-Type"),
      ("Access-Control-Max-Age", "600"),
    ]
    return reply
  }

  /// Headers of the reply to the call itself. If the caller is unknown, the pages of all relying parties may read the
  /// problem. Otherwise they see a 429 or 503 as a network error.
  func headers(_ request: HTTPRequest, _ route: Route, _ caller: Caller?) -> [(name: String, value: String)] {
    guard isOpen(route, to: request) else { return [] }
    guard let origin = allowedOrigin(request, route, caller) else { return [Self.vary] }
    return [
      Self.vary, ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", "Request-Id, Retry-After"),
    ]
  }

  private func isOpen(_ route: Route, to request: HTTPRequest) -> Bool {
    route.isCrossOrigin || !wallets(request, route).isEmpty
  }

  /// The origins of wallets that may call this route; none if wallets do not call it.
  private func wallets(_ request: HTTPRequest, _ route: Route) -> Set<String> {
    guard route.isForWallets else { return [] }
    let parameters = route.path.match(PathTemplate.segments(of: request.path))
    return parameters?["relying_party"].flatMap { walletOrigins[$0] } ?? []
  }

  private func allowedOrigin(_ request: HTTPRequest, _ route: Route, _ caller: Caller?) -> String? {
    guard let origin = request.headers.single("Origin") else { return nil }
    if route.isForWallets {
      let wallets = wallets(request, route)
      return wallets.contains("*") ? "*" : wallets.contains(origin) ? origin : nil
    }
    let allowed =
      switch caller {
      case nil: origins.contains(origin)
      case .clientSecret(_, let party): party.webOrigins.contains(origin)
      default: false
      }
    return allowed ? origin : nil
  }

  private static let vary = (name: "Vary", value: "Origin")
}
