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
      // Debian's libmicrohttpd has TLS; another build may not.
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
      // libmicrohttpd closes the descriptor on some of these paths and not on others. Closing it twice could close
      // another socket, so a failed start may leave it open.
      throw .cannotStart
    }
    self.daemon = daemon
  }

  /// Accepts no more connections, and returns the descriptor. The kernel would still complete handshakes for a
  /// listening socket, so it is shut down. It stays open until `stop`, as a thread may just be using it.
  func quiesce() -> Int32 {
    let descriptor = MHD_quiesce_daemon(daemon)
    if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
    return descriptor
  }

  /// Closes the remaining connections and joins the threads. It blocks. No connection may be suspended.
  func stop(listening descriptor: Int32) {
    MHD_stop_daemon(daemon)
    if descriptor >= 0 { close(descriptor) }
    context.release()
  }
}

/// The functions that libmicrohttpd calls, each a thin step into `TransportCore`.
///
/// They run on libmicrohttpd's threads, so they must not belong to any actor: a callback written in `main.swift` would
/// belong to the main actor and trap here. Objects pass through C as pointers. The core is retained for the daemon's
/// life, and a connection from STARTED to CLOSED. An exchange is not retained, since its connection owns it.
enum MicrohttpdCallbacks {
  /// Called before anything is made for a connection; `NO` closes it.
  static let onAccept: MHD_AcceptPolicyCallback = { context, address, _ in
    guard let core = core(context) else { return .NO }
    return core.mayAccept(ListeningSocket.numericText(of: address)) ? .YES : .NO
  }

  static let onConnection: MHD_NotifyConnectionCallback = { context, native, slot, event in
    guard let core = core(context), let native, let slot else { return }
    if event == .CONNECTION_NOTIFY_STARTED {
      core.configuration.tls?.useOnThisThread()
      slot.pointee = Unmanaged.passRetained(core.makeConnection(native)).toOpaque()
    } else if let raw = slot.pointee {
      // CLOSED comes before the descriptor is closed. The sweeper depends on that.
      slot.pointee = nil
      core.closed(Unmanaged<AcceptedConnection>.fromOpaque(raw).takeRetainedValue())
    }
  }

  /// Called with the request line as it was received. The returned pointer becomes the request's context.
  static let onTarget: mdoc_http_target_callback = { context, target, native in
    guard let core = core(context), let target, let native, let raw = mdoc_http_socket_context(native) else {
      return nil
    }
    let connection = Unmanaged<AcceptedConnection>.fromOpaque(raw).takeUnretainedValue()
    return Unmanaged.passUnretained(core.makeExchange(on: connection, target: target)).toOpaque()
  }

  /// Called with the header, then with each piece of the body, then with size 0, and once more after a resume.
  static let onRequest: MHD_AccessHandlerCallback = { context, native, _, method, version, upload, uploadSize, slot in
    guard let core = core(context), let native, let uploadSize, let raw = slot?.pointee else { return .NO }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(raw).takeUnretainedValue()
    switch exchange.phase {
    case .opening:
      return core.begin(exchange, on: native, method: method, version: version)
    case .receiving where uploadSize.pointee > 0:
      let bytes = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
      uploadSize.pointee = 0
      // No reply can be queued while a body arrives, so the connection of a body that is too large is closed.
      return exchange.append(bytes, limit: core.configuration.maxBodyBytes) ? .YES : .NO
    case .receiving:
      return core.handle(exchange, on: native)
    case .dropping where uploadSize.pointee > 0:
      defer { uploadSize.pointee = 0 }
      return exchange.drop(uploadSize.pointee) ? .YES : .NO
    case .dropping(let reply):
      return core.send(reply, exchange, on: native)
    case .answered(let reply):
      return core.send(reply, exchange, on: native)
    case .handling, .queued:
      // Never called while suspended, nor after a reply was queued.
      return .NO
    }
  }

  static let onCompleted: MHD_RequestCompletedCallback = { context, _, slot, _ in
    guard let core = core(context), let slot, let raw = slot.pointee else { return }
    slot.pointee = nil
    core.finish(on: Unmanaged<HTTPExchange>.fromOpaque(raw).takeUnretainedValue().connection)
  }

  private static func core(_ context: UnsafeMutableRawPointer?) -> TransportCore? {
    context.map { Unmanaged<TransportCore>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Turns a reply into libmicrohttpd's and queues it.
enum ResponseWriter {
  /// Queues the reply on the connection; `NO` makes libmicrohttpd drop the connection.
  static func queue(_ response: HTTPResponse, closes: Bool, on connection: OpaquePointer) -> MHD_Result {
    let isStatusValid = (200...599).contains(response.status)
    guard let native = isStatusValid ? make(response, closes: closes) : nil else {
      guard response.status != 500 || !response.headers.isEmpty || !response.body.isEmpty else { return .NO }
      return queue(HTTPResponse(status: 500), closes: true, on: connection)
    }
    // The queue takes a reference of its own.
    defer { MHD_destroy_response(native) }
    return LibraryReplies.queue(connection, UInt32(response.status), native)
  }

  /// Nil when memory is out or a header cannot be sent.
  private static func make(_ response: HTTPResponse, closes: Bool) -> OpaquePointer? {
    // MUST_COPY: the bytes are sent long after this array is gone, and libmicrohttpd does not write to the buffer.
    let native = response.body.withUnsafeBytes { bytes -> OpaquePointer? in
      let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
      return MHD_create_response_from_buffer(bytes.count, start, .RESPMEM_MUST_COPY)
    }
    guard let native else { return nil }
    var isComplete = true
    for (name, value) in response.headers where !isOurs(name) {
      isComplete = isComplete && isSendable(name, value) && MHD_add_response_header(native, name, value) == .YES
    }
    if closes { isComplete = isComplete && MHD_add_response_header(native, "Connection", "close") == .YES }
    guard isComplete else {
      MHD_destroy_response(native)
      return nil
    }
    return native
  }

  private static func isOurs(_ name: String) -> Bool {
    ["Content-Length", "Transfer-Encoding", "Date"].contains { HTTPHeaders.sameName($0, name) }
  }

  /// libmicrohttpd itself refuses line breaks and empty values. But it would send a name with a colon, and cut a value
  /// at a NUL.
  private static func isSendable(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }
}
