import Base
import Glibc

/// An HTTP/1.1 server. It reads and checks requests on its own threads, hands whole requests to the handler on
/// `WorkerThreads`, and writes the replies.
///
/// It serves until `stop` is called, even if nothing else holds it.
package final class HTTPServer: Sendable {
  /// The port that it listens on; one that the system chose if the configuration said 0.
  package let port: UInt16
  let core: TransportCore
  private let daemon: MicrohttpdDaemon
  private let stopping = Locked<Task<Void, Never>?>(nil)

  /// Starts listening. From then on the whole process ignores `SIGPIPE`.
  package convenience init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) throws(HTTPServerError) {
    try Self.validate(configuration)
    let socket = try BoundSocket(address: configuration.address, port: configuration.port)
    try self.init(on: socket, configuration: configuration, handler: handler)
  }

  /// Serves on a socket that listens already. The configuration's address and port are not used.
  package init(
    on socket: BoundSocket, configuration: HTTPServerConfiguration, handler: any HTTPHandler
  ) throws(HTTPServerError) {
    try Self.validate(configuration)
    signal(SIGPIPE, SIG_IGN)
    port = socket.port
    core = TransportCore(configuration: configuration, handler: handler)
    daemon = try MicrohttpdDaemon(
      core: core, descriptor: socket.take(), isIPv6: socket.address.contains(":"))
    guard core.startSweeping() else {
      // Without deadlines slow peers could take all connections.
      daemon.stop(listening: daemon.quiesce())
      throw .cannotStart
    }
  }

  /// Sockets open now, idle ones included.
  package var connectionCount: Int { core.sweeper.connections.count }

  /// Requests that wait for the handler or are with it now.
  package var inFlightCount: Int { core.inFlight.load(ordering: .acquiring) }

  /// Stops gracefully: refuses new connections, lets requests that have begun finish and get their reply, answers new
  /// ones on open connections with 503, and closes each connection after its reply. After `drainSeconds` a request
  /// without an answer gets 503 and its task is cancelled. Returns when every thread has ended; further calls wait for
  /// the first.
  package func stop(drainSeconds: Int) async {
    let task = stopping.withLock { current in
      let task =
        current
        ?? Task.detached(executorPreference: WorkerThreads.shared) { [self] in
          await shutDown(drainSeconds: drainSeconds)
        }
      current = task
      return task
    }
    await task.value
  }

  private func shutDown(drainSeconds: Int) async {
    core.isDraining.store(true, ordering: .releasing)
    let descriptor = daemon.quiesce()
    await wait(atMost: .seconds(drainSeconds)) { self.core.unfinished.load(ordering: .acquiring) == 0 }
    core.suspended.close { core.refusal(.shuttingDown, of: $0, closes: true) }
    await wait(atMost: .seconds(1)) { self.core.unfinished.load(ordering: .acquiring) == 0 }
    // Every exchange has been answered by now. This waits only for calls that are about to return.
    while !core.suspended.isEmpty { await Self.pause() }
    await BackgroundThread.run { [daemon] in daemon.stop(listening: descriptor) }
    core.sweeper.stop()
  }

  private func wait(atMost limit: Duration, until isDone: @Sendable () -> Bool) async {
    let end = ContinuousClock.now + limit
    while !isDone(), ContinuousClock.now < end { await Self.pause() }
  }

  private static func pause() async {
    // Nobody cancels the task that stops the server, so the sleep cannot fail.
    try? await Task.sleep(for: .milliseconds(5))
  }

  private static func validate(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) {
    let limits = [
      ("threads", configuration.threads, 1...1024), ("maxBodyBytes", configuration.maxBodyBytes, 0...(1 << 30)),
      ("maxHeaderBytes", configuration.maxHeaderBytes, 256...(1 << 24)),
      ("requestDeadline", configuration.requestDeadline, 1...86_400),
      ("responseDeadline", configuration.responseDeadline, 1...86_400),
      ("idleTimeout", configuration.idleTimeout, 1...86_400),
      ("maxConnections", configuration.maxConnections, 1...(1 << 20)),
      ("maxConnectionsPerAddress", configuration.maxConnectionsPerAddress, 0...(1 << 20)),
      ("maxInFlight", configuration.maxInFlight, 0...(1 << 20)),
      ("maxRunning", configuration.maxRunning, 1...(1 << 20)),
      ("delayTarget", configuration.delayTarget, 1...60_000),
      ("delayInterval", configuration.delayInterval, 1...60_000),
      ("maxBufferedBodyBytes", configuration.maxBufferedBodyBytes, 0...(1 << 40)),
      ("overloadRetryAfter", configuration.overloadRetryAfter, 0...86_400),
    ]
    for (name, value, range) in limits where !range.contains(value) { throw .invalidLimit(name) }
    // Each thread gets a share of the connections, which must be at least one.
    guard configuration.maxConnections >= configuration.threads else { throw .invalidLimit("maxConnections") }
  }
}

/// Why a server could not start.
package enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// A limit is out of range; the text is the name of the member.
  case invalidLimit(String)
  /// The socket could not be bound; the number is `errno`.
  case cannotListen(address: String, port: UInt16, errno: Int32)
  /// libmicrohttpd or the system could not start the threads, or the socket is served already.
  case cannotStart
  /// This libmicrohttpd was built without GnuTLS.
  case noTLS

  package var description: String {
    switch self {
    case .invalidAddress(let address): "not a numeric IPv4 or IPv6 address: \(address)"
    case .invalidLimit(let name): "\(name) is out of range"
    case .cannotListen(let address, let port, let code):
      "cannot listen on \(address) port \(port): \(String(cString: strerror(code)))"
    case .noTLS: "this machine's libmicrohttpd speaks no TLS: it was built without GnuTLS"
    case .cannotStart: "the HTTP server could not start its threads"
    }
  }
}
