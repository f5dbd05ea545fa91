import Base
import CMicrohttpd
import Glibc
import Synchronization

/// Where a server listens, and its limits. Times are in whole seconds, the resolution of libmicrohttpd's timers, unless
/// they say otherwise.
///
/// The memory that peers can claim is bounded by `maxBufferedBodyBytes` and `maxConnections × connectionMemory`.
package struct HTTPServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address; `::` listens on IPv4 as well.
  package var address = "127.0.0.1"
  /// 0 picks a free port; `HTTPServer.port` says which.
  package var port: UInt16 = 8080
  /// Threads that read and write sockets; handlers do not run on them.
  package var threads = Self.processorCount
  package var maxBodyBytes = 1 << 20
  /// Bytes of the request line and the header fields together. The request target may take half of them.
  package var maxHeaderBytes = 16 << 10
  /// Seconds from the connection, or from the request line on a kept-alive connection, to the body's last byte.
  package var requestDeadline = 10
  /// Seconds from queueing the reply until its last byte is handed to the kernel. A peer that does not read is cut
  /// then.
  package var responseDeadline = 30
  /// Seconds of silence, between requests and within one, after which a connection is closed.
  package var idleTimeout = 60
  /// Connections over all threads. Further ones wait in the listen queue. See `usualConnections`.
  package var maxConnections = 1024
  /// Connections from one address. Further ones are closed at once. 0 means no limit, which is needed behind a proxy.
  package var maxConnectionsPerAddress = 0
  /// Requests that are handled or wait for it. Above that the reply is 503.
  package var maxInFlight = 1024
  /// Requests that are handled at one time. There are enough to keep the processors and the store's commits busy, and
  /// no more, since each of them slows all others down.
  package var maxRunning = 16 * Self.processorCount
  /// Milliseconds that a request may wait to be handled when its queue has not been empty for `delayInterval`.
  package var delayTarget = 20
  /// Milliseconds after which a queue that is never empty counts as overloaded. Before that a request may wait as long.
  package var delayInterval = 100
  /// Bytes of bodies that are held at one time, over all requests. Above that the reply is 503.
  package var maxBufferedBodyBytes = 64 << 20
  /// Seconds in `Retry-After` if a request is refused for load.
  package var overloadRetryAfter = 1

  /// Counts that the server keeps for its metrics.
  package var gauges = TransportGauges()
  /// The certificate and key for TLS; nil serves plain HTTP.
  package var tls: TLSIdentities?

  package init() {}

  /// Processors that this process may run on. They are fewer than the machine has if the process is bound to some of
  /// them (`taskset`, `CPUAffinity=`).
  package static var processorCount: Int {
    // Room for 8192 processors, the most that Linux is built for.
    var mask = [UInt8](repeating: 0, count: 1_024)
    let size = mdoc_sched_getaffinity(0, mask.count, &mask)
    return size < 0
      ? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
  }

  /// Connections above which those are closed that wait for their peer. The rest, an eighth, is for those that come
  /// meanwhile: probes, and whoever has something to ask.
  package var usualConnections: Int { maxConnections - maxConnections / 8 }

  package var maxTargetBytes: Int { maxHeaderBytes / 2 }

  /// Seconds until a whole request must have arrived on a kept-alive connection. The connection may be silent for the
  /// idle time, and the request may then take its own time. The two are added because the first bytes of the next
  /// request line cannot be seen from outside libmicrohttpd.
  package var nextRequestDeadline: Int { idleTimeout + requestDeadline }

  /// Bytes of the pool that libmicrohttpd keeps for each connection. It holds the header bytes, an entry for each
  /// field, and the reply's header. If a request does not fit, libmicrohttpd itself answers 431 or 414.
  package var connectionMemory: Int { max(32 << 10, 2 * maxHeaderBytes) }
}

/// What a server holds at the moment, for its metrics.
package final class TransportGauges: Sendable {
  /// Requests that wait to be handled.
  package let waiting = Atomic(0)
  /// Requests that take one of the `maxRunning` places.
  package let running = Atomic(0)
  /// Bytes of bodies that are held, complete or not.
  package let bodyBytes = Atomic(0)

  package init() {}
}

/// The transport's own bound; the others are in its configuration.
extension Limits {
  /// Bytes of a refused body that are read and dropped, so that the sender reads the reply: if the connection is closed
  /// while the sender still sends, the reply may be lost.
  static let droppedBodyBytes = 64 << 10
}
