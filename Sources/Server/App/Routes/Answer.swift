import Base
import HTTP
import Sessions

/// A reply before it is put on the wire, with what the log and the metrics say about it.
package struct Answer: Sendable {
  var status: Int
  var mediaType: String
  var body: [UInt8]
  package var headers: [(name: String, value: String)] = []
  /// The id of the session that it is about, for the log; nil if it is about none.
  package var session: String?
  /// The code of the problem, or of the session if it failed or the wallet cancelled it; nil otherwise.
  var code: Code?
  /// The refusal that it is; nil for all other answers.
  var problem: Problem?
  /// Seconds that the answer was held back on purpose, which are no work.
  var heldSeconds = 0.0
  /// The outcome of an attempt, set once when it came to an end; nil for all other answers.
  var verification: Verification?

  enum Verification: String, Sendable, CaseIterable { case verified, failed, canceled }

  package init(status: Int, mediaType: String = "application/json", body: [UInt8]) {
    self.status = status
    self.mediaType = mediaType
    self.body = body
  }

  package init(_ status: Int = 200, json: JSON) { self.init(status: status, body: json.serialized()) }

  init(_ reply: Reply) {
    self.init(status: reply.status, body: reply.text.bytes)
    session = reply.session?.text
    if reply.isReplay { headers.append(("Idempotent-Replayed", "true")) }
  }

  /// The reply to a wallet. Without feedback only the log and the metrics tell the outcome of the wallet's own response.
  init(_ reply: WalletReply) {
    self.init(reply.httpStatus, json: reply.body)
    session = reply.session.text
    verification = Verification(rawValue: reply.status.rawValue)
    code = reply.code
  }

  /// The answer to a submit. It has the outcome of the attempt, unless the reply is a kept one.
  init(submitted reply: Reply) {
    self.init(reply)
    verification = reply.ending.flatMap { Verification(rawValue: $0.status.rawValue) }
    code = reply.ending?.code
  }
}

/// A refusal on the wire (RFC 9457), made from a code of the registry.
struct Problem: Sendable {
  static let mediaType = "application/problem+json"

  let code: Code
  let detail: String
  var errors: [ServiceError.PointedDetail] = []
  var headers: [(name: String, value: String)] = []

  /// The code's stable URN. It names the problem and leads nowhere.
  static func type(of code: Code) -> String { "urn:mdoc:problem:\(code.rawValue)" }

  init(_ error: ServiceError) {
    code = error.code
    detail = error.detail
    errors = error.pointers
    // Every 503 says when to try again.
    let retryAfter = error.retryAfter ?? (error.httpStatus == 503 ? 1 : nil)
    if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
    if error.code == .apiUnauthenticated { headers.append(("WWW-Authenticate", "Bearer realm=\"mdoc\"")) }
    if error.code == .apiForbidden {
      headers.append(("WWW-Authenticate", "Bearer realm=\"mdoc\", error=\"insufficient_scope\""))
    }
  }

  init(_ fault: HTTPFault) {
    switch fault {
    case .malformed(let rule): self.init(ServiceError(.apiMalformedRequest, "The request is malformed: \(rule)."))
    case .bodyTooLarge(let limit): self.init(.tooLarge(.apiBodyTooLarge, limit))
    case .targetTooLong(let limit): self.init(.tooLarge(.apiTargetTooLong, limit))
    case .headersTooLarge(let limit): self.init(.tooLarge(.apiHeadersTooLarge, limit))
    case .overloaded(_, let seconds): self.init(ServiceError(.apiOverloaded, retryAfter: seconds))
    case .rateLimited(let seconds): self.init(ServiceError(.apiRateLimited, retryAfter: seconds))
    case .shuttingDown: self.init(ServiceError(.apiOverloaded, "The server is stopping.", retryAfter: 1))
    }
  }

  func answer(requestID: String) -> Answer {
    var answer = Answer(
      status: code.httpStatus, mediaType: Self.mediaType, body: Self.shape.write((self, requestID)).serialized())
    answer.headers = headers
    answer.code = code
    answer.problem = self
    return answer
  }

  static let shape = Shape<(problem: Problem, requestID: String)>.open(
    "Problem", "Why a request was refused (RFC 9457).",
    [
      .always(
        "type", { type(of: $0.problem.code) }, .written(like: "^urn:mdoc:problem:[a-z0-9_.]+$"),
        "Names the problem, and leads nowhere."),
      .always("title", \.problem.code.entry.summary, .written(), "The code in words."),
      .always("status", \.problem.code.httpStatus, .count, "The HTTP status."),
      .always("detail", \.problem.detail, .written(), "What is wrong with this request, or what to do."),
      .always(
        "code", \.problem.code.rawValue,
        .code("ProblemCode", Code.allCases.filter { $0.httpStatus >= 400 }, "Why a request was refused."),
        "Why the request was refused; each reply lists its own codes."),
      .always(
        "documentation_url", { CodePage.path(of: $0.problem.code) }, .written(),
        "A page on the code, below this server's address."),
      .always("request_id", \.requestID, .written(), "Names this request in the server's log, as in `Request-Id`."),
      .ifAny(
        "errors", { $0.problem.errors.isEmpty ? nil : $0.problem.errors }, pointer.list,
        "The members that are wrong, at most \(Limits.reportedFaults)."),
    ])

  private static let pointer = Shape<ServiceError.PointedDetail>.open(
    "ProblemPointer", "One member that is wrong.",
    [
      .always("pointer", \.pointer, .written(), "The member, as a JSON pointer (RFC 6901); empty for the whole body."),
      .always("detail", \.detail, .written(), "What is wrong with it."),
    ])
}

extension ServiceError {
  fileprivate static func tooLarge(_ code: Code, _ limit: Int) -> ServiceError {
    ServiceError(code, "\(code.entry.summary): \(limit) bytes.")
  }
}

/// Lets pages call from other origins (the Fetch standard's CORS protocol): submit, cancel and GET of one session, with
/// its client secret, from the relying party's configured origins; and wallets that are web pages, what wallets call,
/// from its `wallet_origins`. Nothing else is allowed, and no credentials mode: the secret is in a header.
struct CrossOrigin: Sendable {
  private let origins: Set<String>
  /// By relying party; `*` in them means any origin.
  private let walletOrigins: [String: Set<String>]

  /// Takes all configured origins: a preflight carries no credential, so it cannot tell whose page asks.
  init(_ parties: RelyingParties) {
    origins = Set(parties.all.flatMap(\.webOrigins))
    walletOrigins = Dictionary(uniqueKeysWithValues: parties.all.map { ($0.id, Set($0.openID4VP.walletOrigins)) })
  }

  /// The answer to `OPTIONS`: the permission to call. Without the permission the browser sends no request. Nil where
  /// there is nothing to permit.
  func preflight(_ request: HTTPRequest, _ routes: [Route]) -> Answer? {
    let routes = routes.filter { isOpen($0, to: request) }
    guard let first = routes.first else { return nil }
    var answer = Answer(status: 204, mediaType: "", body: [])
    answer.headers = [("Allow", Router.allowedMethods(of: routes).joined(separator: ", ")), Self.vary]
    let methods = Router.methods(of: routes)
    guard let origin = allowedOrigin(request, first, nil),
      let method = request.headers.single("Access-Control-Request-Method"), methods.contains(method)
    else { return answer }
    answer.headers += [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
      ("Access-Control-Allow-Headers", first.isForWallets ? "Content-Type" : "Authorization, Content-Type"),
      ("Access-Control-Max-Age", "600"),
    ]
    return answer
  }

  /// Headers of the reply to the call itself, problems included. If the request was refused before the caller was
  /// known, the problem tells nothing of any session. Like the answer to a preflight it is then for the pages of all
  /// relying parties: otherwise they would see a 429 or 503 as a broken network, without `Retry-After`.
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

  /// The origins of wallets that may call this route; none where wallets do not call it.
  private func wallets(_ request: HTTPRequest, _ route: Route) -> Set<String> {
    guard route.isForWallets else { return [] }
    let parameters = route.path.match(PathTemplate.segments(of: request.path))
    return parameters?["relying_party"].flatMap { walletOrigins[$0] } ?? []
  }

  /// Nil if the page may not call.
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
