import Base
import CMicrohttpd
import Glibc
import Synchronization

/// The state that all callbacks share. libmicrohttpd holds a reference to it until its threads are joined.
final class TransportCore: Sendable {
  let configuration: HTTPServerConfiguration
  let handler: any HTTPHandler
  let suspended = SuspendedExchanges()
  let sweeper = DeadlineSweeper()
  private let queue: RequestQueue<QueuedRequest>
  private let bodies: BodyBudget
  private let counts: ConnectionCounts
  /// The number of requests that wait for the handler or are being handled. An abandoned request counts until its
  /// handler ends.
  let inFlight = Atomic(0)
  /// The number of requests whose header has been read and whose reply has not been written.
  let unfinished = Atomic(0)
  let isDraining = Atomic(false)

  init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
    self.configuration = configuration
    self.handler = handler
    bodies = BodyBudget(
      limit: configuration.maxBufferedBodyBytes, largestBody: configuration.maxBodyBytes,
      gauges: configuration.gauges)
    counts = ConnectionCounts(limit: configuration.maxConnectionsPerAddress)
    let nanoseconds = { (milliseconds: Int) in Int64(milliseconds) * 1_000_000 }
    queue = RequestQueue(
      maxRunning: configuration.maxRunning, capacity: min(configuration.maxInFlight, configuration.usualConnections),
      delay: DelayControl(
        target: nanoseconds(configuration.delayTarget), interval: nanoseconds(configuration.delayInterval)),
      gauges: configuration.gauges)
  }

  /// Starts the thread that enforces deadlines. Returns false if the system cannot start a thread.
  func startSweeping() -> Bool {
    sweeper.start { [weak self] in
      guard let self else { return }
      for connection in sweeper.cutAbandoned() { connection.exchange.map(suspended.abandon) }
      perform(queue.expire(at: Deadline.now()))
      sweeper.makeRoom(within: configuration.usualConnections)
    }
  }

  func mayAccept(_ address: String) -> Bool {
    !isDraining.load(ordering: .acquiring) && counts.mayAccept(ClientAddress(address))
  }

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

  func makeExchange(on connection: AcceptedConnection, target: UnsafePointer<CChar>) -> HTTPExchange {
    connection.allow(seconds: configuration.requestDeadline)
    let bytes = UnsafeRawBufferPointer(start: target, count: strnlen(target, configuration.maxHeaderBytes + 1))
    let exchange = HTTPExchange(connection: connection, target: [UInt8](bytes))
    connection.begin(exchange)
    return exchange
  }

  /// Called after the header arrives and before the body, so that the server can refuse the request without reading its
  /// body.
  func begin(
    _ exchange: HTTPExchange, on native: OpaquePointer, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
  ) -> MHD_Result {
    unfinished.add(1, ordering: .acquiringAndReleasing)
    guard let header = RawHeader(connection: native, method: method, version: version) else {
      return refuse(.malformed("no request line"), exchange, nil, on: native)
    }
    do throws(HTTPError) {
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

  /// Accepts or refuses the body that follows. Refuses the body if the handler refuses it, the sender's share is used
  /// up, or no memory is left.
  private func beginBody(
    _ header: FramingCheck.Result, _ exchange: HTTPExchange, on native: OpaquePointer
  ) -> MHD_Result {
    let owner: BodyOwner
    switch handler.bodyAdmission(of: header.request) {
    case .refused(let response): return dropBody(response, header, exchange, on: native)
    case .taken(let sender): owner = sender
    }
    let length = header.contentLength ?? 0
    do throws(BodyBudgetError) {
      exchange.accept(header.request, contentLength: length, hold: try bodies.hold(length, for: owner))
      return .YES
    } catch {
      switch error {
      case .share:
        let refusal = refusal(
          .rateLimited(retryAfter: configuration.overloadRetryAfter), of: header.request, closes: false)
        return dropBody(refusal, header, exchange, on: native)
      case .memory: return refuse(overloaded(.memory), exchange, header.request, on: native)
      }
    }
  }

  private func overloaded(_ overload: Overload) -> HTTPError {
    .overloaded(overload, retryAfter: configuration.overloadRetryAfter)
  }

  /// Refuses a request that has a body. If the body is short, the server reads it before it replies. If the body is
  /// long, or waits for `100 Continue` (RFC 9110, 10.1.1), the server replies at once and closes the connection.
  private func dropBody(
    _ response: HTTPResponse, _ header: FramingCheck.Result, _ exchange: HTTPExchange, on native: OpaquePointer
  ) -> MHD_Result {
    let isShort = header.contentLength.map { $0 <= Limits.droppedBodyBytes } ?? true
    guard isShort, !header.request.headers.contains("Expect") else {
      return send(response.closing(true), exchange, on: native)
    }
    exchange.refuse(with: response.closing(false))
    return .YES
  }

  /// Called when the whole request has arrived. Refuses the request, or suspends the connection until the handler
  /// replies.
  func handle(_ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    // If `lift` is false, the sweeper has just cut the connection: nobody would read the reply.
    guard exchange.connection.lift(), let request = exchange.beginHandling() else { return .NO }
    let now = Deadline.now()
    let flow = handler.flow(of: request)
    let lane: RequestQueue<QueuedRequest>.Lane?
    do throws(HTTPError) {
      switch try handler.admission(of: request) {
      case .essential: lane = nil
      case .normal: lane = .finishing
      case .deferrable: lane = .beginning
      }
      if let overload = lane.flatMap({ queue.refusal(in: $0, of: flow, at: now) }) { throw overloaded(overload) }
    } catch {
      return refuse(error, exchange, request, on: native, closes: isDraining.load(ordering: .acquiring))
    }
    let handle = SuspendedExchanges.Handle(pointer: native)
    inFlight.add(1, ordering: .acquiringAndReleasing)
    // Suspend before any step that might resume the connection: a resume before the suspension is lost.
    MHD_suspend_connection(native)
    guard suspended.add(exchange, handle, request) else {
      inFlight.subtract(1, ordering: .acquiringAndReleasing)
      suspended.reply(to: exchange, handle, with: refusal(.shuttingDown, of: request, closes: true))
      return .YES
    }
    let queued = QueuedRequest(
      exchange: exchange, handle: handle, request: request, arrived: now, flow: flow, takesSlot: lane != nil)
    if let lane { perform(queue.add(queued, to: lane, of: flow, at: now)) } else { start(queued) }
    return .YES
  }

  private func perform(_ due: RequestQueue<QueuedRequest>.Due) {
    for (overload, refused) in [(Overload.delay, due.refuse), (.full, due.displaced)] {
      for late in refused {
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
        let closes = isDraining.load(ordering: .acquiring)
        let refusal = refusal(overloaded(overload), of: late.request, closes: closes)
        suspended.reply(to: late.exchange, late.handle, with: refusal)
      }
    }
    for next in due.start { start(next) }
  }

  private func start(_ queued: QueuedRequest) {
    let work = RequestWork(queued.flow)
    let task = Task.detached(executorPreference: work) { [self] in
      // A request that the stopping server refuses must not consume anything, because its client retries.
      if !suspended.isClosed, queued.exchange.isBeingHandled {
        var request = queued.request
        request.waited = Double(Deadline.now() - queued.arrived) / 1e9
        let response = await Flow.$current.withValue(queued.flow) {
          await HandlingPlace.$current.withValue(slot(of: queued)) { await handler.respond(to: request) }
        }
        handler.charge(request, replyBytes: response.body.count, nanoseconds: work.cost(at: Deadline.now()))
        let closes = isDraining.load(ordering: .acquiring)
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
        suspended.reply(to: queued.exchange, queued.handle, with: response.closing(closes))
      } else {
        inFlight.subtract(1, ordering: .acquiringAndReleasing)
      }
      let now = Deadline.now()
      if queued.takesSlot { perform(queue.leave(queued.flow, cost: work.cost(at: now), at: now)) }
    }
    queued.exchange.attach(task)
  }

  private func slot(of queued: QueuedRequest) -> HandlingPlace? {
    guard queued.takesSlot else { return nil }
    return HandlingPlace(
      leave: { [self] in perform(queue.leave(queued.flow, cost: 0, at: Deadline.now())) },
      comeBack: { [self] in perform(queue.comeBack(queued.flow, at: Deadline.now())) },
      hold: { queued.exchange.connection.isHeld.store($0, ordering: .releasing) })
  }

  /// Passes the reply to libmicrohttpd, and sets the peer's deadline for reading it.
  func send(_ reply: HTTPResponse, _ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    exchange.markQueued()
    exchange.connection.allow(seconds: configuration.responseDeadline)
    return ResponseWriter.queue(reply, closes: reply.closes || exchange.isLast, on: native)
  }

  /// Refuses the request. By default the connection is closed, because the start of the next request is unknown or
  /// follows an unread body.
  func refuse(
    _ error: HTTPError, _ exchange: HTTPExchange, _ request: HTTPRequest?, on native: OpaquePointer, closes: Bool = true
  ) -> MHD_Result {
    send(refusal(error, of: request ?? exchange.bareRequest, closes: closes), exchange, on: native)
  }

  func refusal(_ error: HTTPError, of request: HTTPRequest?, closes: Bool) -> HTTPResponse {
    var response = handler.refusal(error, of: request)
    let hasRetryAfter = response.headers.contains { HTTPHeaders.sameName($0.name, "Retry-After") }
    if let seconds = error.retryAfter, !hasRetryAfter { response.headers.append(("Retry-After", String(seconds))) }
    return response.closing(closes)
  }

  /// Called when the reply was written or the connection broke.
  func finish(on connection: AcceptedConnection) {
    connection.allow(seconds: configuration.nextRequestDeadline)
    guard let exchange = connection.endExchange(), exchange.hasHeader else { return }
    exchange.end()
    unfinished.subtract(1, ordering: .acquiringAndReleasing)
  }

  func closed(_ connection: AcceptedConnection) {
    sweeper.remove(connection)
    counts.closed(connection.client)
    finish(on: connection)
  }
}

struct QueuedRequest: Sendable {
  let exchange: HTTPExchange
  let handle: SuspendedExchanges.Handle
  let request: HTTPRequest
  /// Nanoseconds of the monotonic clock.
  let arrived: Int64
  let flow: Flow
  /// False for an essential request, which takes no slot of `RequestQueue`.
  let takesSlot: Bool
}
