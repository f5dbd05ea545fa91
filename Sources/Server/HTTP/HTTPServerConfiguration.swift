import Base
import CMicrohttpd
import Glibc
import Synchronization

/// Where a server listens and what it takes on. Times are in whole seconds, the resolution of libmicrohttpd's timers.
///
/// The memory that peers can claim is bounded by `maxBufferedBodyBytes` and `maxConnections × 2 × maxHeaderBytes`.
package struct HTTPServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address; `::` listens on IPv4 as well.
  package var address = "127.0.0.1"
  /// 0 picks a free port; `HTTPServer.port` says which.
  package var port: UInt16 = 8080
  /// Threads that read and write sockets; handlers do not run on them.
  package var threads = Self.processorCount
  package var maxBodyBytes = 1 << 20
  /// Request line and header fields together; a request target may take half of it.
  package var maxHeaderBytes = 16 << 10
  /// From the connection, or the request line on a kept-alive connection, to the body's last byte.
  package var requestDeadline = 10
  /// From the queued reply to its last byte handed to the kernel, against peers that do not read.
  package var responseDeadline = 30
  /// Silence on a connection, between requests and within one.
  package var idleTimeout = 60
  /// Over all threads; more than this wait in the listen queue.
  package var maxConnections = 1024
  /// More than this from one address are closed at once; 0 for no such limit, as behind a proxy.
  package var maxConnectionsPerAddress = 0
  /// Requests that are handled or wait for it; above, the reply is 503.
  package var maxInFlight = 1024
  /// Requests that are handled at one time: as many as keep the processors and the store's commits busy, and no more,
  /// since each of them waits for all others.
  package var maxRunning = 16 * Self.processorCount
  /// Milliseconds that a request may wait to be handled where requests always wait.
  package var delayTarget = 20
  /// Milliseconds after which requests count as always waiting, and that one may wait before.
  package var delayInterval = 100
  /// Bytes of bodies that are held at one time, over all requests; above, the reply is 503.
  package var maxBufferedBodyBytes = 64 << 20
  /// `Retry-After` of that reply.
  package var overloadRetryAfter = 1

  /// What the server tells of itself.
  package var gauges = TransportGauges()
  /// Speaks TLS where it is set.
  package var tls: TLSIdentities?

  package init() {}

  /// Processors that this process may run on, which are fewer than there are where it is bound to some (`taskset`,
  /// `CPUAffinity=`).
  package static var processorCount: Int {
    // Room for 8192 processors, the most that Linux is built for.
    var mask = [UInt8](repeating: 0, count: 1_024)
    let size = mdoc_sched_getaffinity(0, mask.count, &mask)
    return size < 0
      ? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
  }

  package var maxTargetBytes: Int { maxHeaderBytes / 2 }

  /// A kept-alive connection may be silent for the idle time and must then deliver a whole request in time. The first
  /// bytes of the next request line cannot be seen from outside libmicrohttpd, hence the sum.
  package var nextRequestDeadline: Int { idleTimeout + requestDeadline }

  /// libmicrohttpd keeps the header bytes, an entry for each field, and the reply's header in one pool a connection;
  /// what does not fit is its own 431 or 414.
  package var connectionMemory: Int { max(32 << 10, 2 * maxHeaderBytes) }
}

/// What a server holds at the moment, for its metrics.
package final class TransportGauges: Sendable {
  /// Requests that wait to be handled.
  package let waiting = Atomic(0)
  /// Requests that take one of the places among those handled at one time.
  package let running = Atomic(0)
  /// Bytes of bodies, whole and in part.
  package let bodyBytes = Atomic(0)

  package init() {}
}

/// The transport's own bound; the others are in its configuration.
extension Limits {
  /// Bytes of a body that are read and dropped so that whoever is refused reads why: a connection that is closed on a
  /// caller who still sends may lose the reply.
  static let droppedBodyBytes = 64 << 10
}
