import CMicrohttpd
import Glibc

/// The running C library: started once, quiesced, stopped once.
// Sendable by use: the pointer is only passed to MHD_quiesce_daemon and MHD_stop_daemon, by the one task that stops the
// server, one after the other; libmicrohttpd allows both from any thread.
final class MicrohttpdDaemon: @unchecked Sendable {
  private let daemon: OpaquePointer
  private let context: Unmanaged<TransportCore>

  /// Takes over the listening descriptor.
  init(core: TransportCore, descriptor: Int32, isIPv6: Bool) throws(HTTPServerError) {
    let configuration = core.configuration
    var flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
    if isIPv6 { flags |= MHD_USE_IPv6.rawValue }
    if configuration.tls != nil {
      // Debian's libmicrohttpd has it; another build may not.
      guard MHD_is_feature_supported(.FEATURE_SSL) == .YES else { throw .noTLS }
    }
    var options = mdoc_http_options()
    options.listen_fd = descriptor
    options.threads = UInt32(configuration.threads)
    options.connection_limit = UInt32(configuration.maxConnections)
    options.idle_timeout = UInt32(configuration.idleTimeout)
    options.connection_memory = configuration.connectionMemory
    options.on_accept = MicrohttpdCallbacks.onAccept
    options.on_request = MicrohttpdCallbacks.onRequest
    options.on_target = MicrohttpdCallbacks.onTarget
    options.on_completed = MicrohttpdCallbacks.onCompleted
    options.on_connection = MicrohttpdCallbacks.onConnection
    context = Unmanaged.passRetained(core)
    options.context = context.toOpaque()
    let daemon: OpaquePointer? =
      if configuration.tls == nil {
        mdoc_http_start(flags, &options)
      } else {
        TLSIdentities.priorities.withCString { priorities in
          options.tls_priorities = priorities
          options.on_certificate = TLSIdentities.onCertificate
          return mdoc_http_start(flags, &options)
        }
      }
    guard let daemon else {
      context.release()
      // libmicrohttpd closes the descriptor on some of these paths and not on others; closing it twice could hit a
      // stranger's, so that a failed start may leave it open.
      throw .cannotStart
    }
    self.daemon = daemon
  }

  /// Accepts no more. The kernel would still complete handshakes for a listening socket, hence the shutdown; the
  /// descriptor itself stays open until `stop`, as a thread may just be using it.
  func quiesce() -> Int32 {
    let descriptor = MHD_quiesce_daemon(daemon)
    if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
    return descriptor
  }

  /// Closes what is left and joins the threads; blocks. No connection may be suspended.
  func stop(listening descriptor: Int32) {
    MHD_stop_daemon(daemon)
    if descriptor >= 0 { close(descriptor) }
    context.release()
  }
}
