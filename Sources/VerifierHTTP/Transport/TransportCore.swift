import CMicrohttpd
import Glibc
import Synchronization

/// What every callback shares: the handler, the limits, and the counts that a stop waits for.
///
/// libmicrohttpd holds one reference to it from its start until its threads are joined.
final class TransportCore: Sendable {
  let configuration: HTTPServerConfiguration
  let handler: any HTTPHandler
  let suspended = SuspendedExchanges()
  let sweeper = DeadlineSweeper()
  /// Requests in `handler.respond`, abandoned ones included: they still cost what they cost.
  let inFlight = Atomic(0)
  /// Requests whose header has been read and whose reply has not been written.
  let unfinished = Atomic(0)
  let isDraining = Atomic(false)

  init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
    self.configuration = configuration
    self.handler = handler
  }

  /// A socket was accepted; the first request must be here in time.
  func makeConnection(_ native: OpaquePointer) -> ClientConnection {
    let connection = ClientConnection(
      descriptor: mdoc_http_connection_fd(native),
      remoteAddress: ListeningSocket.numericText(of: mdoc_http_client_address(native)),
      seconds: configuration.requestDeadline)
    sweeper.add(connection)
    return connection
  }

  /// The request line is here.
  func makeExchange(on connection: ClientConnection, target: UnsafePointer<CChar>) -> HTTPExchange {
    connection.allow(seconds: configuration.requestDeadline)
    let length = strnlen(target, configuration.maxHeaderBytes + 1)
    let bytes = UnsafeRawBufferPointer(start: target, count: length)
    let exchange = HTTPExchange(connection: connection, target: [UInt8](bytes))
    connection.begin(exchange)
    return exchange
  }

  /// The header is here, the body is not: the one moment to refuse a request before its body is sent.
  func begin(
    _ exchange: HTTPExchange, on native: OpaquePointer, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
  ) -> MHD_Result {
    unfinished.add(1, ordering: .acquiringAndReleasing)
    guard !isDraining.load(ordering: .acquiring) else { return refuse(.shuttingDown, exchange, on: native) }
    guard let header = RawHeader(connection: native, method: method, version: version) else {
      return refuse(.malformed("no request line"), exchange, on: native)
    }
    do throws(HTTPFault) {
      let accepted = try FramingCheck.check(
        header, target: exchange.target, remoteAddress: exchange.connection.remoteAddress, limits: configuration)
      exchange.accept(accepted.request, contentLength: accepted.contentLength ?? 0)
      return .YES
    } catch {
      return refuse(error, exchange, on: native)
    }
  }

  /// The whole request is here: suspends the connection and lets the handler run.
  func handle(_ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    // False when the sweeper cut the connection this instant: nobody would read the answer.
    guard exchange.connection.lift() else { return .NO }
    let running = inFlight.add(1, ordering: .acquiringAndReleasing).newValue
    guard running <= configuration.maxInFlight, let request = exchange.beginHandling() else {
      inFlight.subtract(1, ordering: .acquiringAndReleasing)
      let fault = HTTPFault.overloaded(retryAfter: configuration.overloadRetryAfter)
      return refuse(fault, exchange, on: native, closes: isDraining.load(ordering: .acquiring))
    }
    let handle = SuspendedExchanges.Handle(pointer: native)
    // First the suspension, then everything that might resume: a resume that comes first is lost.
    MHD_suspend_connection(native)
    guard suspended.add(exchange, handle) else {
      inFlight.subtract(1, ordering: .acquiringAndReleasing)
      suspended.answer(exchange, handle, with: refusal(.shuttingDown, closes: true))
      return .YES
    }
    let task = Task.detached(executorPreference: WorkerThreads.shared) { [self] in
      let response = await handler.respond(to: request)
      inFlight.subtract(1, ordering: .acquiringAndReleasing)
      let closes = isDraining.load(ordering: .acquiring)
      suspended.answer(exchange, handle, with: HTTPExchange.Reply(response: response, closes: closes))
    }
    exchange.attach(task)
    return .YES
  }

  /// Gives the reply to libmicrohttpd, and the peer its time to read it.
  func send(_ reply: HTTPExchange.Reply, _ exchange: HTTPExchange, on native: OpaquePointer) -> MHD_Result {
    exchange.markQueued()
    exchange.connection.allow(seconds: configuration.responseDeadline)
    return ResponseWriter.queue(reply.response, closes: reply.closes, on: native)
  }

  /// Turns the request away; by default the connection goes with it, because where the next request would start is
  /// unknown (a fault in the framing) or behind a body that nobody wants.
  func refuse(
    _ fault: HTTPFault, _ exchange: HTTPExchange, on native: OpaquePointer, closes: Bool = true
  ) -> MHD_Result {
    send(refusal(fault, closes: closes), exchange, on: native)
  }

  func refusal(_ fault: HTTPFault, closes: Bool) -> HTTPExchange.Reply {
    var response = handler.refusal(fault)
    let hasRetryAfter = response.headers.contains { HTTPHeaders.sameName($0.name, "Retry-After") }
    if let seconds = fault.retryAfter, !hasRetryAfter {
      response.headers.append((name: "Retry-After", value: String(seconds)))
    }
    return HTTPExchange.Reply(response: response, closes: closes)
  }

  /// The reply was written, or the connection broke.
  func finish(on connection: ClientConnection) {
    connection.allow(seconds: configuration.nextRequestDeadline)
    guard let exchange = connection.endExchange(), exchange.hasHeader else { return }
    unfinished.subtract(1, ordering: .acquiringAndReleasing)
  }

  /// The socket is about to be closed.
  func closed(_ connection: ClientConnection) {
    sweeper.remove(connection)
    finish(on: connection)
  }
}
