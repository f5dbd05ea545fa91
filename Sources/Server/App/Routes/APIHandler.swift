import Base
import Cryptography
import HTTP
import Sessions

/// Handles requests for the transport, in three parts: the router, the steps, the route. Only routes access sessions. A
/// malformed or unauthorised request therefore consumes no challenge.
struct APIHandler: HTTPHandler {
  static let steps: [any RequestStep] = [
    RateStep(), CredentialStep(), RightsStep(), ContentStep(), CrossOriginStep(),
  ]

  private let inForce: CurrentApplication
  private let updater: ConfigurationUpdater?
  private let router: Router
  private let log: RequestLog

  init(_ application: Application, log: Log) {
    self.init(CurrentApplication(application), updater: nil, log: log)
  }

  init(_ inForce: CurrentApplication, updater: ConfigurationUpdater?, log: Log) {
    self.inForce = inForce
    self.updater = updater
    self.log = RequestLog(log)
    router = Router(RouteTable.routes(with: inForce.current.additions))
  }

  // MARK: On threads that read sockets

  func heading(of request: HTTPRequest) -> (any Sendable)? { read(request) }

  /// Returns the heading that the transport stored with the request. Parses the header if there is none.
  private func read(_ request: HTTPRequest) -> RequestHeading {
    request.heading as? RequestHeading ?? RequestHeading(request, router, inForce.current)
  }

  func flow(of request: HTTPRequest) -> Flow {
    let heading = read(request)
    if case .route(let route, _) = heading.match, route.urgency == .essential { return .probes }
    return heading.flow
  }

  func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64) {
    let heading = read(request)
    heading.limiter.charge(heading.counted, replyBytes: replyBytes, nanoseconds: nanoseconds, at: Deadline.now())
  }

  /// Admits health checks at any time. Checks every other request against its caller's rate before the request is
  /// queued.
  func admission(of request: HTTPRequest) throws(HTTPError) -> Urgency {
    let heading = read(request)
    let urgency: Urgency =
      switch heading.match {
      case .route(let route, _): route.urgency
      // Reply to every preflight. A reply costs no more than a refusal, and browsers show a refusal as a network error.
      case .preflight: .essential
      case .methodNotAllowed, .nothing: .normal
      }
    // Always count a request with a credential, even if its route is essential. This limits the guessing of
    // credentials.
    if urgency == .essential, !request.headers.contains("Authorization") { return urgency }
    if request.hold == nil {
      try count(heading)
    } else if !request.headers.contains("Content-Length") {
      // The request was already counted when its header arrived. The body's length was not known then.
      heading.limiter.charge(heading.counted, bytes: request.body.count, at: Deadline.now())
    }
    return urgency
  }

  /// Every step counts each call, so call this only once for each request.
  private func count(_ heading: RequestHeading) throws(HTTPError) { for step in Self.steps { try step.count(heading) } }

  /// Checks the header before the body is accepted, and counts the body's size against the sender's rate.
  func bodyAdmission(of request: HTTPRequest) -> BodyAdmission {
    let heading = read(request)
    do throws(HTTPError) { try count(heading) } catch { return .refused(refusal(error, of: request)) }
    let length = request.headers.single("Content-Length").flatMap { Int($0) } ?? 0
    heading.limiter.charge(heading.counted, bytes: length, at: Deadline.now())
    if let response = headerRefusal(of: request, heading) { return .refused(response) }
    return switch heading.counted {
    case .key: .taken(from: .relyingParty(heading.flow))
    case .other(_, let address): .taken(from: .address(address))
    }
  }

  /// The refusal that `respond` returns for this header; nil if there is none.
  private func headerRefusal(of request: HTTPRequest, _ heading: RequestHeading) -> HTTPResponse? {
    if case .preflight = heading.match { return nil }
    var call = RouteCall(request, heading, updater, hasBody: true)
    do throws(ServiceError) {
      let route = try call.begin()
      for step in Self.steps { try step.checkHeader(&call, route) }
      return nil
    } catch {
      let reply = refused(error, call)
      call.record.note(reply, seconds: 0)
      call.application.metrics.refused(call.record)
      return response(reply, request, call.record, call.application)
    }
  }

  /// Makes the reply to a refused request. Does not use the store and does not wait.
  func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
    let application = inForce.current
    var record = RequestRecord(id: RequestID.make(), method: "")
    var reply = Reply(refusing: ServiceError(error), requestID: record.id)
    record.route = RequestRecord.refusedRoute
    record.note(reply, seconds: 0)
    application.metrics.refused(record, error)
    // Check `Origin` first: most callers are not pages, and refusals must be cheap.
    if let request, request.headers.contains("Origin"), case let heading = read(request),
      case .route(let route, _) = heading.match
    {
      reply.headers += heading.application.crossOrigin.headers(request, route, nil)
    }
    return response(reply, request, record, application)
  }

  // MARK: On worker threads

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let start = ContinuousClock.now
    // If the configuration has changed in the meantime, read the heading again. The new configuration may revoke a key.
    let application = inForce.current
    var heading = read(request)
    if heading.application !== application { heading = RequestHeading(request, router, application) }
    var call = RouteCall(request, heading, updater, hasBody: !request.body.isEmpty)
    application.metrics.began(waited: request.waited)
    var reply = await reply(to: &call)
    reply.content = .bytes(reply.bytes)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    call.record.note(reply, seconds: request.waited + seconds - reply.heldSeconds)
    application.metrics.ended(call.record)
    return response(reply, request, call.record, application)
  }

  private func reply(to call: inout RouteCall) async -> Reply {
    do throws(ServiceError) {
      if case .preflight(let routes) = call.heading.match,
        let reply = call.application.crossOrigin.preflight(call.request, routes)
      {
        call.record.isRoutine = true
        call.record.route = routes.first?.path.text ?? call.record.route
        return reply
      }
      let route = try call.begin()
      for step in Self.steps {
        try step.checkHeader(&call, route)
        try await step.checkWhole(&call, route)
      }
      var reply = try await route.respond(call)
      for step in Self.steps { step.finish(&reply, call, route) }
      return reply
    } catch {
      return refused(error, call)
    }
  }

  // MARK: Replies

  private func refused(_ error: ServiceError, _ call: RouteCall) -> Reply {
    var reply = Reply(refusing: error, requestID: call.record.id)
    switch call.heading.match {
    case .route(let route, _): for step in Self.steps { step.finish(&reply, call, route) }
    case .preflight(let routes):
      reply.headers.append(("Allow", Router.allowedMethods(of: routes).joined(separator: ", ")))
    case .methodNotAllowed(let methods): reply.headers.append(("Allow", methods.joined(separator: ", ")))
    case .nothing: break
    }
    return reply
  }

  /// Writes the log line. Returns the reply with the headers common to all replies.
  private func response(
    _ reply: Reply, _ request: HTTPRequest?, _ record: RequestRecord, _ application: Application
  ) -> HTTPResponse {
    log.write(record, at: application.clock())
    var (mediaType, body, further) = (reply.mediaType, reply.bytes, reply.headers)
    if let request, let error = reply.refusal, router.isPage(request.path) {
      let page = ErrorPage(error, request, record.id, application.service.relyingParties)
      (mediaType, body) = (ErrorPage.mediaType, page.body)
      further += page.headers
    }
    var headers = [
      (name: "Request-Id", value: record.id), (name: "Cache-Control", value: "no-store"),
      (name: "X-Content-Type-Options", value: "nosniff"),
    ]
    // One year, as browsers' preload lists require. On plain HTTP the header has no effect (RFC 6797, 7.2).
    if application.edge.tls != nil { headers.append(("Strict-Transport-Security", "max-age=31536000")) }
    if !mediaType.isEmpty { headers.append(("Content-Type", mediaType)) }
    return HTTPResponse(status: reply.status, headers: headers + further, body: body)
  }
}

extension RouteCall {
  /// Finds and records the route, and the session and relying party in its path.
  ///
  /// - Throws: `api.not_found` or `api.method_not_allowed` if there is no such route.
  fileprivate mutating func begin() throws(ServiceError) -> Route {
    switch heading.match {
    case .nothing: throw ServiceError(.apiNotFound)
    case .methodNotAllowed, .preflight: throw ServiceError(.apiMethodNotAllowed)
    case .route(let route, let parameters):
      self.parameters = parameters
      record.route = route.path.text
      record.isEssential = route.urgency == .essential
      record.isRoutine = record.isEssential
      record.session = (parameters["id"] ?? parameters["session"]).flatMap(WalletPath.init)?.session.text
      record.relyingParty = parameters["relying_party"].flatMap { application.service.relyingParties[$0]?.id }
      return route
    }
  }
}

/// A request's header, parsed once. It identifies the route, and the caller if no store lookup is needed.
final class RequestHeading: Sendable {
  let application: Application
  let match: Router.Match
  /// The token of the `Authorization` header, or the error in this header.
  let token: Result<String, ServiceError>
  private let hash: [UInt8]?
  /// The caller against whose rate the request counts.
  let counted: RateLimiter.Caller
  /// The request's flow. The session in the path never determines it, since anyone can request any session.
  let flow: Flow

  var limiter: RateLimiter { application.edge.limiter }

  init(_ request: HTTPRequest, _ router: Router, _ application: Application) {
    self.application = application
    match = router.match(method: request.method, path: request.path)
    token = Result { () throws(ServiceError) in try BearerToken.read(request.headers) }
    let text = try? token.get()
    hash = text.map(APIKey.hash)
    if let hash, let holder = Self.holder(of: hash, application) {
      counted = .key(hash)
      flow = Flow(relyingParty: holder.relyingParty.id)
    } else {
      let address = application.edge.proxy.address(of: request)
      flow = Flow(stranger: address)
      var session = text.flatMap { ClientSecret($0)?.text }
      if session == nil, case .route(_, let parameters) = match, let name = parameters["session"] {
        // All wallet addresses of a session count as one caller.
        session = WalletPath(name)?.session.text ?? name
      }
      counted = .other(session: session, address)
    }
  }

  /// The owner of the token, if it is an API key. Looked up each time, since a key may expire.
  var keyHolder: Caller? { hash.flatMap { Self.holder(of: $0, application) } }

  private static func holder(of hash: [UInt8], _ application: Application) -> Caller? {
    application.service.relyingParties.owner(ofKeyHash: hash, at: application.clock())
  }
}

/// The id of one request, in its reply and the log: `req_` and 24 hexadecimal digits. The id never comes from the
/// caller.
enum RequestID {
  static func make() -> String {
    // If the random generator fails, serve the request anyway. Its id is then all zeros.
    "req_" + Hex.encode((try? Random.bytes(12)) ?? [UInt8](repeating: 0, count: 12))
  }
}

/// The part of one request in a distributed trace (W3C Trace Context, 3.2). Only the id of the trace comes from the
/// caller.
struct TraceContext: Sendable, Hashable {
  /// 32 lower-case hexadecimal digits.
  let traceID: String
  /// The id of this server's work on the request: 16 hexadecimal digits, never taken from the caller.
  let spanID: String

  /// Continues the caller's trace. Nil if the caller sent no valid `traceparent`.
  init?(_ headers: HTTPHeaders) {
    // If the random generator fails, the request is not traced.
    guard let traceID = headers.single("traceparent").flatMap(Self.traceID), let span = try? Random.bytes(8) else {
      return nil
    }
    self.traceID = traceID
    spanID = Hex.encode(span)
  }

  /// Reads the trace id from `00-<trace-id>-<parent-id>-<flags>`. Later versions may append fields (3.2.2, 3.2.4). Nil
  /// if the header is invalid.
  static func traceID(in traceparent: String) -> String? {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ isHex($0, digits: $1) }) else { return nil }
    guard parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
    guard !parts[1].allSatisfy({ $0 == "0" }), !parts[2].allSatisfy({ $0 == "0" }) else { return nil }
    return String(parts[1])
  }

  /// True if the text has this number of hexadecimal digits, all in lower case (3.2.1).
  private static func isHex(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
  }
}
