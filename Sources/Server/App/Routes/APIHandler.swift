import Base
import HTTP
import Sessions

/// The application behind the transport. Every request takes these steps, in this order, and is noted for the log.
///
/// route → authentication → scope → query → body → Idempotency-Key → the route's own work. Nothing before the last step
/// touches a session, so that no malformed or unauthorised request consumes a challenge.
struct APIHandler: HTTPHandler {
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

  func heading(of request: HTTPRequest) -> (any Sendable)? { read(request) }

  /// The heading that was read with the header. If the request came some other way, it is read now.
  private func read(_ request: HTTPRequest) -> RequestHeading {
    request.heading as? RequestHeading ?? RequestHeading(request, router, inForce.current)
  }

  /// The heading for the answer. A body takes as long as its sender likes: if another configuration is in force by now,
  /// the heading is read again, so that a key that was revoked meanwhile does not count.
  private func readForAnswer(_ request: HTTPRequest) -> RequestHeading {
    let application = inForce.current
    if let heading = request.heading as? RequestHeading, heading.application === application { return heading }
    return RequestHeading(request, router, application)
  }

  func flow(of request: HTTPRequest) -> Flow {
    let heading = read(request)
    if case .route(let route, _) = heading.match, route.urgency == .essential { return .probes }
    return heading.flow
  }

  func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64) {
    let (limiter, caller) = (read(request).application.edge.limiter, read(request).counted)
    limiter.charge(caller, replyBytes: replyBytes, nanoseconds: nanoseconds, at: Deadline.now())
  }

  /// Called on a thread that reads sockets. Requests that ask how the server is are admitted at any time. All others
  /// are held to their rates before they wait for anything.
  func admission(of request: HTTPRequest) -> Admission {
    let heading = read(request)
    let application = heading.application
    var urgency = Route.Urgency.normal
    switch heading.match {
    case .route(let route, _): urgency = route.urgency
    // To answer a preflight costs no more than to refuse it, and after a refusal the browser would see a broken
    // network.
    case .preflight: urgency = .essential
    default: break
    }
    // With a credential even an essential request is counted, so that nobody may try credentials without end.
    if urgency == .essential, !request.headers.contains("Authorization") { return .essential }
    if request.hold == nil {
      if let fault = rateFault(heading.counted, application) { return .refused(fault) }
    } else if !request.headers.contains("Content-Length") {
      // The request was counted with its header, which did not tell how long the body would be.
      application.edge.limiter.charge(heading.counted, bytes: request.body.count, at: Deadline.now())
    }
    return switch urgency {
    case .essential: .essential
    case .normal: .normal
    case .deferrable: .deferrable
    }
  }

  /// Called on a thread that reads sockets, before the body is taken. Refuses what the header alone decides, and counts
  /// the size of the body against its sender's rate.
  func bodyAdmission(of request: HTTPRequest) -> BodyAdmission {
    let heading = read(request)
    let application = heading.application
    if let fault = rateFault(heading.counted, application) {
      var response = refusal(fault, of: request)
      response.headers += refusalHeaders(for: request)
      return .refused(response)
    }
    let length = request.headers.single("Content-Length").flatMap { Int($0) } ?? 0
    application.edge.limiter.charge(heading.counted, bytes: length, at: Deadline.now())
    if let response = headerRefusal(of: request, heading) { return .refused(response) }
    return switch heading.counted {
    case .key: .taken(from: .relyingParty(heading.flow))
    case .other(_, let address): .taken(from: .address(address))
    }
  }

  private func rateFault(_ caller: RateLimiter.Caller, _ application: Application) -> HTTPFault? {
    application.edge.limiter.refusal(of: caller, at: Deadline.now()).map { refusal in
      application.metrics.limited(refusal.subject)
      return .rateLimited(retryAfter: refusal.retryAfter)
    }
  }

  /// The refusal of a request that its header alone decides, as `respond` would give it: unknown paths and methods,
  /// credentials that cannot be valid, unknown query parameters and wrong types of content. Nil if there is none.
  private func headerRefusal(of request: HTTPRequest, _ heading: RequestHeading) -> HTTPResponse? {
    let application = heading.application
    var record = RequestRecord(id: RequestID.make(), method: request.method)
    record.trace = TraceContext(request.headers)
    let answer: Answer
    switch heading.match {
    case .nothing: answer = notFound(record)
    case .methodNotAllowed(let methods): answer = notAllowed(methods, record)
    case .preflight: return nil
    case .route(let route, let parameters):
      record.note(route, parameters, application)
      do throws(ServiceError) {
        let caller = try knownCaller(request, for: route, heading)
        record.relyingParty = caller?.relyingParty.id ?? record.relyingParty
        record.apiKey = caller?.keyID
        try RequestContent.checkQuery(request, route)
        try RequestContent.checkType(request, route, hasBody: true)
        return nil
      } catch {
        answer = refused(error, request, route, nil, record, application)
      }
    }
    record.note(answer, seconds: 0)
    application.metrics.refused(record)
    log.write(record, at: application.clock())
    return response(answer, to: request, requestID: record.id, application)
  }

  /// The caller, if it has an API key. Nil if the route needs no credential, or if the token may be a client secret,
  /// which only the store knows.
  private func knownCaller(
    _ request: HTTPRequest, for route: Route, _ heading: RequestHeading
  ) throws(ServiceError) -> Caller? {
    if isOpen(route, to: request, heading.application) { return nil }
    let token = try heading.token.get()
    if let caller = heading.keyHolder {
      try route.access.check(caller)
      return caller
    }
    guard ClientSecret(token) != nil else { throw ServiceError(.apiUnauthenticated) }
    return nil
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let start = ContinuousClock.now
    let heading = readForAnswer(request)
    let application = heading.application
    application.metrics.began(waited: request.waited)
    var record = RequestRecord(id: RequestID.make(), method: request.method)
    record.trace = TraceContext(request.headers)
    let answer = await answer(request, heading, &record)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    record.note(answer, seconds: request.waited + seconds - answer.heldSeconds)
    application.metrics.ended(record)
    log.write(record, at: application.clock())
    return response(answer, to: request, requestID: record.id, application)
  }

  /// Called on a thread that reads sockets, so it uses no store and does not wait.
  func refusal(_ fault: HTTPFault, of request: HTTPRequest?) -> HTTPResponse {
    let application = inForce.current
    var record = RequestRecord(id: RequestID.make(), method: "")
    let answer = Problem(fault).answer(requestID: record.id)
    record.route = RequestRecord.refusedRoute
    record.note(answer, seconds: 0)
    application.metrics.refused(record, fault)
    log.write(record, at: application.clock())
    return response(answer, to: request, requestID: record.id, application)
  }

  func refusalHeaders(for request: HTTPRequest) -> [(name: String, value: String)] {
    // Checked first, since most callers are not pages: a server that refuses thousands of requests a second does little
    // else.
    guard request.headers.contains("Origin"),
      case let heading = read(request), case .route(let route, _) = heading.match
    else { return [] }
    return heading.application.crossOrigin.headers(request, route, nil)
  }

  private func answer(
    _ request: HTTPRequest, _ heading: RequestHeading, _ record: inout RequestRecord
  ) async -> Answer {
    let application = heading.application
    switch heading.match {
    case .nothing: return notFound(record)
    case .methodNotAllowed(let methods): return notAllowed(methods, record)
    case .preflight(let routes):
      guard let answer = application.crossOrigin.preflight(request, routes) else {
        return notAllowed(Router.allowedMethods(of: routes), record)
      }
      record.isRoutine = true
      record.route = routes.first?.path.text ?? record.route
      return answer
    case .route(let route, let parameters):
      record.note(route, parameters, application)
      return await run(route, parameters, request, heading, &record)
    }
  }

  private func notFound(_ record: RequestRecord) -> Answer {
    Problem(ServiceError(.apiNotFound)).answer(requestID: record.id)
  }

  private func notAllowed(_ methods: [String], _ record: RequestRecord) -> Answer {
    var answer = Problem(ServiceError(.apiMethodNotAllowed)).answer(requestID: record.id)
    answer.headers.append(("Allow", methods.joined(separator: ", ")))
    return answer
  }

  /// The answer to a refused request. A wrong credential counts as several requests of its sender.
  private func refused(
    _ error: ServiceError, _ request: HTTPRequest, _ route: Route, _ caller: Caller?, _ record: RequestRecord,
    _ application: Application
  ) -> Answer {
    if error.code == .apiUnauthenticated {
      let address = application.edge.proxy.address(of: request)
      application.edge.limiter.noteFailedAuthentication(from: address, at: Deadline.now())
    }
    var answer = Problem(error).answer(requestID: record.id)
    answer.headers += application.crossOrigin.headers(request, route, caller)
    return answer
  }

  private func run(
    _ route: Route, _ parameters: [String: String], _ request: HTTPRequest, _ heading: RequestHeading,
    _ record: inout RequestRecord
  ) async -> Answer {
    let application = heading.application
    var caller: Caller?
    do throws(ServiceError) {
      caller = try await authenticate(request, for: route, heading)
      record.relyingParty = caller?.relyingParty.id ?? record.relyingParty
      record.apiKey = caller?.keyID
      try RequestContent.checkQuery(request, route)
      let call = RouteCall(
        request: request, parameters: parameters, caller: caller, body: try RequestContent.body(request, route),
        idempotency: try RequestContent.idempotency(request, route, caller), application: application,
        updater: updater)
      var answer = try await route.respond(call)
      answer.headers += application.crossOrigin.headers(request, route, caller)
      return answer
    } catch {
      return refused(error, request, route, caller, record, application)
    }
  }

  private func authenticate(
    _ request: HTTPRequest, for route: Route, _ heading: RequestHeading
  ) async throws(ServiceError) -> Caller? {
    if isOpen(route, to: request, heading.application) { return nil }
    if let caller = try knownCaller(request, for: route, heading) { return caller }
    let caller = try await heading.application.service.authenticate(bearer: heading.token.get())
    try route.access.check(caller)
    return caller
  }

  /// Whether this request needs no credential.
  private func isOpen(_ route: Route, to request: HTTPRequest, _ application: Application) -> Bool {
    switch route.access {
    case .anyone: true
    case .operators: isLocal(request, application)
    case .apiKey, .apiKeyOrClientSecret: false
    }
  }

  /// Whether the peer is a process of this machine, and no page of another site. Behind a proxy every peer may be the
  /// proxy, so none counts.
  private func isLocal(_ request: HTTPRequest, _ application: Application) -> Bool {
    !application.isBehindProxy && ListenAddress.isLoopback(request.remoteAddress)
      && !request.headers.contains("X-Forwarded-For") && !request.headers.contains("Forwarded")
      && request.headers.single("Host").map(ListenAddress.isThisMachine) ?? false
  }

  private func response(
    _ answer: Answer, to request: HTTPRequest?, requestID: String, _ application: Application
  ) -> HTTPResponse {
    var answer = answer
    if let request, let problem = answer.problem, router.isPage(request.path) {
      let page = ErrorPage(problem, request, requestID, application.service.relyingParties)
      (answer.mediaType, answer.body) = (ErrorPage.mediaType, page.body)
      answer.headers += page.headers
    }
    var headers = [
      (name: "Request-Id", value: requestID), (name: "Cache-Control", value: "no-store"),
      (name: "X-Content-Type-Options", value: "nosniff"),
    ]
    // One year, as browsers' preload lists ask. On plain HTTP the header would mean nothing (RFC 6797, 7.2).
    if application.edge.tls != nil { headers.append(("Strict-Transport-Security", "max-age=31536000")) }
    if !answer.mediaType.isEmpty { headers.append(("Content-Type", answer.mediaType)) }
    return HTTPResponse(status: answer.status, headers: headers + answer.headers, body: answer.body)
  }
}

extension RequestRecord {
  /// Notes the route, and what its path tells of the session and the relying party.
  fileprivate mutating func note(_ route: Route, _ parameters: [String: String], _ application: Application) {
    self.route = route.path.text
    isEssential = route.urgency == .essential
    isRoutine = isEssential
    session = (parameters["id"] ?? parameters["session"]).flatMap(WalletPath.init)?.session.text
    relyingParty = parameters["relying_party"].flatMap { application.service.relyingParties[$0]?.id }
  }
}
