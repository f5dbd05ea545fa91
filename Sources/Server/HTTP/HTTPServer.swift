import Base
import CMicrohttpd
import Glibc
import Synchronization

/// An HTTP/1.1 server that serves until `stop` is called. The server reads and writes on its own threads. The handler
/// runs on `WorkerThreads`.
package final class HTTPServer: Sendable {
  package let port: UInt16
  let core: TransportCore
  private let daemon: MicrohttpdDaemon
  private let stopping = Locked<Task<Void, Never>?>(nil)

  /// Starts listening. From now on the whole process ignores `SIGPIPE`.
  package convenience init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) throws(HTTPServerError) {
    try Self.validate(configuration)
    let socket = try BoundSocket(address: configuration.address, port: configuration.port)
    try self.init(on: socket, configuration: configuration, handler: handler)
  }

  /// Serves on a socket that is already listening. The configuration's address and port are not used.
  package init(
    on socket: BoundSocket, configuration: HTTPServerConfiguration, handler: any HTTPHandler
  ) throws(HTTPServerError) {
    try Self.validate(configuration)
    signal(SIGPIPE, SIG_IGN)
    port = socket.port
    core = TransportCore(configuration: configuration, handler: handler)
    daemon = try MicrohttpdDaemon(core: core, descriptor: socket.take(), isIPv6: socket.address.contains(":"))
    guard core.startSweeping() else {
      // Without deadlines, slow peers could take all connections.
      daemon.stop()
      throw .cannotStart
    }
  }

  /// The number of open sockets, including idle ones.
  package var connectionCount: Int { core.sweeper.connections.count }

  /// The number of requests that wait for the handler or are being handled.
  package var inFlightCount: Int { core.inFlight.load(ordering: .acquiring) }

  /// Stops gracefully: refuses new connections and requests (503), lets requests in progress finish, and closes each
  /// connection after its reply. After `drainSeconds` a request without a reply gets 503 and its task is cancelled.
  package func stop(drainSeconds: Int) async {
    let task = stopping.withLock { current in
      if let current { return current }
      let task = Task.detached(executorPreference: WorkerThreads.shared) { [self] in
        await shutDown(drainSeconds: drainSeconds)
      }
      current = task
      return task
    }
    await task.value
  }

  private func shutDown(drainSeconds: Int) async {
    core.isDraining.store(true, ordering: .releasing)
    // After this pause, no connection is still being accepted.
    await Self.pause()
    daemon.refuseConnections()
    await wait(atMost: .seconds(drainSeconds)) { self.core.unfinished.load(ordering: .acquiring) == 0 }
    core.suspended.close { core.refusal(.shuttingDown, of: $0, closes: true) }
    await wait(atMost: .seconds(1)) { self.core.unfinished.load(ordering: .acquiring) == 0 }
    // Every exchange now has a reply. Wait only for calls that are about to return.
    while !core.suspended.isEmpty { await Self.pause() }
    await BackgroundThread.run { [daemon] in daemon.stop() }
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
    // Each thread needs at least one connection.
    guard configuration.maxConnections >= configuration.threads else { throw .invalidLimit("maxConnections") }
  }
}

/// The reason why a server could not start.
package enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// A limit is out of range. The text is the name of the limit.
  case invalidLimit(String)
  /// The socket could not be bound; the number is `errno`.
  case cannotListen(address: String, port: UInt16, errno: Int32)
  /// libmicrohttpd or the system could not start the threads, or the socket is already served.
  case cannotStart
  case noTLS

  package var description: String {
    switch self {
    case .invalidAddress(let address): "not a numeric IPv4 or IPv6 address: \(address)"
    case .invalidLimit(let name): "\(name) is out of range"
    case .cannotListen(let address, let port, let code):
      "cannot listen on \(address) port \(port): \(String(cString: strerror(code)))"
    case .noTLS: "this machine's libmicrohttpd does not support TLS; install one that is built with GnuTLS"
    case .cannotStart: "the HTTP server could not start its threads"
    }
  }
}

/// A server's address and limits. Times are in seconds unless another unit is stated. Peers can use at most
/// `maxBufferedBodyBytes` plus `maxConnections × connectionMemory` of memory.
package struct HTTPServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address; `::` listens on IPv4 as well.
  package var address = "127.0.0.1"
  /// 0 picks a free port: read it from `HTTPServer.port`.
  package var port: UInt16 = 8080
  package var threads = Self.processorCount
  package var maxBodyBytes = 1 << 20
  /// Maximum bytes of the request line and the header fields together. The request target may take half of these bytes.
  package var maxHeaderBytes = 16 << 10
  /// The maximum time from the connection to the last byte of the first body. For a later request, the time begins at
  /// its request line.
  package var requestDeadline = 10
  /// The maximum time from queueing a reply until the kernel accepts the reply's last byte. After this time, the server
  /// cuts the connection.
  package var responseDeadline = 30
  /// The idle time, between or within requests, after which the server closes a connection.
  package var idleTimeout = 60
  /// Maximum number of connections of all threads together. Further connections wait in the listen queue. See
  /// `usualConnections`.
  package var maxConnections = 1024
  /// Maximum number of connections from one address. Further connections are closed at once. 0 means no limit. Use 0
  /// behind a proxy.
  package var maxConnectionsPerAddress = 0
  /// Maximum number of requests that are handled or wait for handling. Further requests get 503.
  package var maxInFlight = 1024
  /// Maximum number of requests that are handled concurrently: enough to keep the processors and the store's commits
  /// busy.
  package var maxRunning = 16 * Self.processorCount
  /// Milliseconds that a request may wait once its queue has been non-empty for `delayInterval`.
  package var delayTarget = 20
  /// A queue that is non-empty for this number of milliseconds counts as overloaded. Until then a request may wait this
  /// long.
  package var delayInterval = 100
  /// Maximum bytes of all requests' bodies together. Beyond this limit the reply is 503.
  package var maxBufferedBodyBytes = 64 << 20
  /// The `Retry-After` in refusals because of load.
  package var overloadRetryAfter = 1
  package var gauges = TransportGauges()
  package var tls: TLSIdentities?

  package init() {}

  /// The number of processors that this process may run on (`taskset`, `CPUAffinity=`).
  package static var processorCount: Int {
    // Enough for 8192 processors, the maximum of Linux.
    var mask = [UInt8](repeating: 0, count: 1_024)
    let size = mdoc_sched_getaffinity(0, mask.count, &mask)
    return size < 0
      ? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
  }

  /// Above this number of connections, the server closes connections that wait for their peer. The remaining eighth is
  /// reserved for new connections.
  package var usualConnections: Int { maxConnections - maxConnections / 8 }

  package var maxTargetBytes: Int { maxHeaderBytes / 2 }

  /// The maximum time for a later request on a connection, including the idle time before it. libmicrohttpd does not
  /// report the first bytes of a request line.
  package var nextRequestDeadline: Int { idleTimeout + requestDeadline }

  /// Bytes of libmicrohttpd's memory pool for one connection. The pool contains the request's header, the parsed fields
  /// and the reply's header. If the pool is exhausted, the reply is 431 or 414.
  package var connectionMemory: Int { max(32 << 10, 2 * maxHeaderBytes) }
}

/// The current load of a server, for its metrics.
package final class TransportGauges: Sendable {
  package let waiting = Atomic(0)
  /// The number of requests with one of the `maxRunning` slots.
  package let running = Atomic(0)
  /// Bytes of request bodies in memory, including incomplete bodies.
  package let bodyBytes = Atomic(0)

  package init() {}
}

extension Limits {
  /// Maximum bytes of a refused body that the server reads and drops. If the connection closes before the body's end,
  /// the reply may be lost.
  static let droppedBodyBytes = 64 << 10
}

/// Makes the listening socket. If libmicrohttpd makes the socket, it reports neither an error nor the chosen port.
enum ListeningSocket {
  /// Opens a listening socket that is non-blocking and close-on-exec. The caller owns the descriptor.
  static func open(address: String, port: UInt16) throws(HTTPServerError) -> (descriptor: Int32, port: UInt16) {
    var storage = sockaddr_storage()
    guard let length = numericAddress(address, port: port, into: &storage) else { throw .invalidAddress(address) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(Int32(storage.ss_family), kind, 0)
    guard descriptor >= 0 else { throw .cannotListen(address: address, port: port, errno: errno) }
    var on: Int32 = 1
    var only: Int32 = address == "::" ? 0 : 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if Int32(storage.ss_family) == AF_INET6 {
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, size)
    }
    let bound = withGenericAddress(&storage) { bind(descriptor, $0, length) }
    guard bound == 0, listen(descriptor, SOMAXCONN) == 0 else {
      let code = errno
      close(descriptor)
      throw .cannotListen(address: address, port: port, errno: code)
    }
    var actualLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
    _ = withGenericAddress(&storage) { getsockname(descriptor, $0, &actualLength) }
    return (descriptor, portNumber(of: storage))
  }

  /// The address of a peer as text; empty if it cannot be read. An IPv4 peer of a dual-stack socket is shown as IPv4.
  static func numericText(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address else { return "" }
    let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
    let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer -> String in
      guard let base = buffer.baseAddress,
        getnameinfo(address, socklen_t(length), base, socklen_t(NI_MAXHOST), nil, 0, NI_NUMERICHOST) == 0
      else { return "" }
      return String(cString: base)
    }
    let mapped = "::ffff:"
    return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
  }

  private static func numericAddress(_ text: String, port: UInt16, into storage: inout sockaddr_storage) -> socklen_t? {
    func store<Address>(_ address: Address) -> socklen_t {
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
      return socklen_t(MemoryLayout<Address>.size)
    }
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = port.bigEndian
    if inet_pton(AF_INET, text, &four.sin_addr) == 1 { return store(four) }
    var six = sockaddr_in6()
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_port = port.bigEndian
    return inet_pton(AF_INET6, text, &six.sin6_addr) == 1 ? store(six) : nil
  }

  private static func portNumber(of storage: sockaddr_storage) -> UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      // In both address families, the port directly follows the family.
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: MemoryLayout<sa_family_t>.size, as: UInt16.self))
    }
  }

  private static func withGenericAddress<R>(
    _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> R
  ) -> R {
    withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
  }
}

/// A listening socket that is opened before its server starts, so that the port is known early. Peers wait in the
/// socket's queue.
package final class BoundSocket: Sendable {
  package let address: String
  /// The port of the socket, never 0.
  package let port: UInt16
  private let descriptor: Locked<Int32?>

  package init(address: String, port: UInt16) throws(HTTPServerError) {
    let socket = try ListeningSocket.open(address: address, port: port)
    self.address = address
    self.port = socket.port
    descriptor = Locked(socket.descriptor)
  }

  /// Returns the descriptor on the first call; throws on later calls. The caller must close the descriptor.
  package func take() throws(HTTPServerError) -> Int32 {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { throw .cannotStart }
    return descriptor
  }

  deinit { descriptor.withLock { if let descriptor = $0 { _ = close(descriptor) } } }
}
