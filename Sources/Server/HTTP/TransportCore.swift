import Base
import CMicrohttpd
import Glibc
import Synchronization

/// What all callbacks share: the handler, the limits, and the counts that a stop waits for.
///
/// libmicrohttpd holds one reference to it from its start until its threads are joined.
final class TransportCore: Sendable {
  let configuration: HTTPServerConfiguration
  let handler: any HTTPHandler
  let suspended = SuspendedExchanges()
  let sweeper = DeadlineSweeper()
  private let queue: RequestQueue<QueuedRequest>
  private let bodies: BodyBudget
  private let counts: ConnectionCounts
  /// Requests that wait for the handler or are with it. An abandoned request counts until its handler ends, since it
  /// still takes time and memory.
  let inFlight = Atomic(0)
  /// Requests whose header has been read and whose reply has not been written.
  let unfinished = Atomic(0)
  let isDraining = Atomic(false)

  init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
    self.configuration = configuration
    self.handler = handler
    bodies = BodyBudget(
      limit: configuration.maxBufferedBodyBytes, largestBody: configuration.maxBodyBytes,
      gauges: configuration.gauges)
    counts = ConnectionCounts(limit: configuration.maxConnectionsPerAddress)
    let milliseconds: Int64 = 1_000_000
    queue = RequestQueue(
      maxRunning: configuration.maxRunning, capacity: min(configuration.maxInFlight, configuration.usualConnections),
      delay: DelayControl(
        target: Int64(configuration.delayTarget) * milliseconds,
        interval: Int64(configuration.delayInterval) * milliseconds),
      gauges: configuration.gauges)
  }

  /// Starts the thread that enforces deadlines. Returns false if the system has no thread to give.
  func startSweeping() -> Bool {
    sweeper.start { [weak self] in
      guard let self else { return }
      for connection in sweeper.cutAbandoned() { connection.exchange.map(suspended.abandon) }
      perform(queue.expire(at: Deadline.now()))
      sweeper.makeRoom(within: configuration.usualConnections)
    }
  }

  /// Whether a peer of this address may have one more connection.
  func mayAccept(_ address: String) -> Bool { counts.mayAccept(ClientAddress(address)) }

  /// Called when a socket was accepted. Its first request must arrive before the deadline.
  func makeConnection(_ native: OpaquePointer) -> AcceptedConnection {
    let connection = AcceptedConnection(
      descriptor: mdoc_http_connection_fd(native),
      remoteAddress: ListeningSocket.numericText(of: mdoc_http_client_address(native)), core: self)
    sweeper.add(connection)
    sweeper.makeRoom(within: configuration.usualConnections)
    counts.opened(connection.client)
    return connection
  }

  /// Called when the request line has arrived.
  func makeExchange(on connection: AcceptedConnection, target: UnsafePointer<CChar>) -> HTTPExchange {
    connection.allow(seconds: configuration.requestDeadline)
    let length = strnlen(target, configuration.maxHeaderBytes + 1)
    let bytes = UnsafeRawBufferPointer(start: target, count: length)
    let exchange = HTTPExchange(connection: connection, target: [UInt8](bytes))
    connection.begin(exchange)
    return exchange
  }

  /// Called when the header has arrived and the body has not. Only now can a request be refused before its body is
  /// sent.
  func begin(
    _ exchange: HTTPExchange, on native: OpaquePointer, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
  ) -> MHD_Result {
    unfinished.add(1, ordering: .acquiringAndReleasing)
    guard let header = RawHeader(connection: native, method: method, version: version) else {
      return refuse(.malformed("no request line"), exchange, nil, on: native)
    }
    do throws(HTTPFault) {
      var accepted = try FramingCheck.check(
        header, target: exchange.target, remoteAddress: exchange.connection.remoteAddress, limits: configuration)
      accepted.request.heading = handler.heading(of: accepted.request)
      guard !isDraining.load(ordering: .acquiring) else {
        return refuse(.shuttingDown, exchange, accepted.request, on: native)
      }
      exchange.isLast = accepted.hasBody && accepted.contentLength == nil
      guard accepted.hasBody else {
        exchange.accept(accepted.request, contentLength: 0, hold: nil)
        return .YES
      }
      return beginBody(accepted, exchange, on: native)
    } catch {
      return refuse(error, exchange, nil, on: native)
    }
  }

  /// Takes the body that follows, unless the handler refuses it, its sender has used up its share, or no memory is
  /// left.
  private func beginBody(_ header: FramingCheck.Result, _ exchange: HTTPExchange, on native: OpaquePointer)
    -> MHD_Result
  {
    let length = header.contentLength
    switch handler.bodyAdmission(of: header.request) {
    case .refused(let response): return dropBody(response, header, exchange, on: native)
    case .taken(let owner):
      switch bodies.hold(length ?? 0, for: owner) {
      case .success(let hold):
        exchange.accept(header.request, contentLength: length ?? 0, hold: hold)
        return .YES
      case .failure(.share):
        let fault = HTTPFault.rateLimited(retryAfter: configuration.overloadRetryAfter)
        return dropBody(refusal(fault, of: header.request, closes: false).response, header, exchange, on: native)
      case .failure(.memory):
        let fault = HTTPFault.overloaded(.memory, retryAfter: configuration.overloadRetryAfter)
        return refuse(fault, exchange, header.request, on: native)
      }
    }
  }

  /// Answers a request whose body is not wanted. A short body may be under way already, so the answer follows it.
  /// Before a long body, or one that the client sends only when asked to (RFC 9110, 10.1.1), the answer goes at once
  /// and the connection is closed.
  private func dropBody(
    _ response: HTTPResponse, _ header: FramingCheck.Result, _ exchange: HTTPExchange, on native: OpaquePointer
  ) -> MHD_Result {
    let isShort = header.contentLength.map { $0 <= Limits.droppedBodyBytes } ?? true
    guard isShort, !header.request.headers.contains("Expect") else {
      return send(HTTPExchange.Reply(response: response, closes: true), exchange, on: native)
    }
    exchange.refuse(with: HTTPExchange.Reply(response: response, closes: false))
    return .YES
  }

  /// Called when the whole request has arrived. Suspends the connection until the handler has answered, or refuses the
  /// request.
  func handle(_ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    // `lift` is false if the sweeper has just cut the connection: nobody would read the answer.
    guard exchange.connection.lift(), let request = exchange.beginHandling() else { return .NO }
    let now = Deadline.now()
    let lane: RequestQueue<QueuedRequest>.Lane?
    switch handler.admission(of: request) {
    case .essential: lane = nil
    case .normal: lane = .finishing
    case .deferrable: lane = .beginning
    case .refused(let fault):
      return refuse(fault, exchange, request, on: native, closes: isDraining.load(ordering: .acquiring))
    }
    let flow = handler.flow(of: request)
    if let overload = lane.flatMap({ queue.refusal(in: $0, of: flow, at: now) }) {
      let fault = HTTPFault.overloaded(overload, retryAfter: configuration.overloadRetryAfter)
      return refuse(fault, exchange, request, on: native, closes: isDraining.load(ordering: .acquiring))
    }
    let handle = SuspendedExchanges.Handle(pointer: native)
    inFlight.add(1, ordering: .acquiringAndReleasing)
    // The suspension comes before everything that might resume: an earlier resume would be lost.
    MHD_suspend_connection(native)
    guard suspended.add(exchange, handle, request) else {
      inFlight.subtract(1, ordering: .acquiringAndReleasing)
      suspended.answer(exchange, handle, with: refusal(.shuttingDown, of: request, closes: true))
      return .YES
    }
    let queued = QueuedRequest(
      exchange: exchange, handle: handle, request: request, arrived: now, flow: flow, takesPlace: lane != nil)
    if let lane { perform(queue.add(queued, to: lane, of: flow, at: now)) } else { start(queued) }
    return .YES
  }

  /// Starts and refuses the requests that the queue names.
  private func perform(_ due: RequestQueue<QueuedRequest>.Due) {
    for (overload, refused) in [(Overload.delay, due.refuse), (.full, due.displaced)] {
      for late in refused {
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
        let fault = HTTPFault.overloaded(overload, retryAfter: configuration.overloadRetryAfter)
        let closes = isDraining.load(ordering: .acquiring)
        suspended.answer(late.exchange, late.handle, with: refusal(fault, of: late.request, closes: closes))
      }
    }
    for next in due.start { start(next) }
  }

  private func start(_ queued: QueuedRequest) {
    let work = RequestWork(queued.flow)
    let task = Task.detached(executorPreference: work) { [self] in
      // If a stop has answered the request, or is about to, nothing may be consumed for it: its client is told to try
      // again.
      if !suspended.isClosed, queued.exchange.isBeingHandled {
        var request = queued.request
        request.waited = Double(Deadline.now() - queued.arrived) / 1e9
        let response = await Flow.$current.withValue(queued.flow) {
          await HandlingPlace.$current.withValue(place(of: queued)) { await handler.respond(to: request) }
        }
        handler.charge(request, replyBytes: response.body.count, nanoseconds: work.cost(at: Deadline.now()))
        let closes = isDraining.load(ordering: .acquiring)
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
        suspended.answer(
          queued.exchange, queued.handle, with: HTTPExchange.Reply(response: response, closes: closes))
      } else {
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
      }
      let now = Deadline.now()
      if queued.takesPlace { perform(queue.leave(queued.flow, cost: work.cost(at: now), at: now)) }
    }
    queued.exchange.attach(task)
  }

  private func place(of queued: QueuedRequest) -> HandlingPlace? {
    guard queued.takesPlace else { return nil }
    return HandlingPlace(
      leave: { [self] in perform(queue.leave(queued.flow, cost: 0, at: Deadline.now())) },
      comeBack: { [self] in perform(queue.comeBack(queued.flow, at: Deadline.now())) },
      hold: { queued.exchange.connection.isHeld.store($0, ordering: .releasing) })
  }

  /// Gives the reply to libmicrohttpd, and the peer its time to read it.
  func send(_ reply: HTTPExchange.Reply, _ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    exchange.markQueued()
    exchange.connection.allow(seconds: configuration.responseDeadline)
    return ResponseWriter.queue(reply.response, closes: reply.closes || exchange.isLast, on: native)
  }

  /// Turns the request away. By default the connection is closed: after a fault in the framing it is unknown where the
  /// next request starts, and otherwise it starts behind a body that is not wanted.
  func refuse(
    _ fault: HTTPFault, _ exchange: HTTPExchange, _ request: HTTPRequest?, on native: OpaquePointer, closes: Bool = true
  ) -> MHD_Result {
    send(refusal(fault, of: request ?? exchange.bareRequest, closes: closes), exchange, on: native)
  }

  func refusal(_ fault: HTTPFault, of request: HTTPRequest?, closes: Bool) -> HTTPExchange.Reply {
    var response = handler.refusal(fault, of: request)
    if let request { response.headers += handler.refusalHeaders(for: request) }
    let hasRetryAfter = response.headers.contains { HTTPHeaders.sameName($0.name, "Retry-After") }
    if let seconds = fault.retryAfter, !hasRetryAfter {
      response.headers.append((name: "Retry-After", value: String(seconds)))
    }
    return HTTPExchange.Reply(response: response, closes: closes)
  }

  /// Called when the reply was written or the connection broke.
  func finish(on connection: AcceptedConnection) {
    connection.allow(seconds: configuration.nextRequestDeadline)
    guard let exchange = connection.endExchange(), exchange.hasHeader else { return }
    exchange.end()
    unfinished.subtract(1, ordering: .acquiringAndReleasing)
  }

  /// Called before the socket is closed.
  func closed(_ connection: AcceptedConnection) {
    sweeper.remove(connection)
    counts.closed(connection.client)
    finish(on: connection)
  }
}

/// A request that waits for its turn, on a suspended connection.
struct QueuedRequest: Sendable {
  let exchange: HTTPExchange
  let handle: SuspendedExchanges.Handle
  let request: HTTPRequest
  /// When it arrived, in nanoseconds of the monotonic clock.
  let arrived: Int64
  /// Whose turn it takes.
  let flow: Flow
  /// Whether it takes one of the places of `RequestQueue`. An essential request does not.
  let takesPlace: Bool
}
