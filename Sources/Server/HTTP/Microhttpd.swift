import Base
import CMicrohttpd
import Glibc

/// The running libmicrohttpd daemon, which is started once and stopped once.
// Sendable by use: only the task that stops the server passes the pointer to MHD_stop_daemon. libmicrohttpd allows this
// call on any thread.
final class MicrohttpdDaemon: @unchecked Sendable {
  private let daemon: OpaquePointer
  /// The listening socket, which libmicrohttpd closes when it stops.
  private let descriptor: Int32
  private let context: Unmanaged<TransportCore>

  init(core: TransportCore, descriptor: Int32, isIPv6: Bool) throws(HTTPServerError) {
    let configuration = core.configuration
    var flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
    if isIPv6 { flags |= MHD_USE_IPv6.rawValue }
    if configuration.tls != nil {
      // Debian's libmicrohttpd supports TLS; other builds may not.
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
    BackgroundThread.avoidInterrupting()  // This thread keeps the policy; libmicrohttpd's threads inherit it.
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
      // libmicrohttpd may have closed the descriptor. A second close could close another socket, so do not close the
      // descriptor here.
      throw .cannotStart
    }
    self.daemon = daemon
    self.descriptor = descriptor
  }

  /// Closes the listening socket, so that the kernel refuses connections. The descriptor then refers to a socket
  /// without connections. Call this function only when no connection is being accepted.
  ///
  /// MHD_quiesce_daemon has this purpose. In 0.9.75, however, that function and a thread may both remove the socket
  /// from the thread's set. The second removal aborts the process.
  func refuseConnections() {
    let nothing = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    guard nothing >= 0 else { return }
    dup2(nothing, descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    close(nothing)
  }

  /// Closes the socket and the remaining connections, and joins the threads. The call blocks. No connection may be
  /// suspended when this function is called.
  func stop() {
    MHD_stop_daemon(daemon)
    context.release()
  }
}

/// The functions that libmicrohttpd calls on its threads. They must not be isolated to an actor: a closure in
/// `main.swift` is, and traps on these threads. The daemon retains the core until the daemon stops. It retains each
/// connection from STARTED to CLOSED. A connection owns its exchange.
enum MicrohttpdCallbacks {
  /// Called before the connection has any state. `NO` closes the connection.
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
      // While a body arrives, no reply can be queued. If the body is too large, the connection is therefore closed.
      return exchange.append(bytes, limit: core.configuration.maxBodyBytes) ? .YES : .NO
    case .receiving:
      return core.handle(exchange, on: native)
    case .dropping where uploadSize.pointee > 0:
      defer { uploadSize.pointee = 0 }
      return exchange.drop(uploadSize.pointee) ? .YES : .NO
    case .dropping(let reply), .replied(let reply):
      return core.send(reply, exchange, on: native)
    case .handling, .queued:
      // libmicrohttpd does not call this function while the connection is suspended or after a reply is queued.
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

enum ResponseWriter {
  /// Queues the reply on the connection; `NO` makes libmicrohttpd drop the connection.
  static func queue(_ response: HTTPResponse, closes: Bool, on connection: OpaquePointer) -> MHD_Result {
    guard let native = (200...599).contains(response.status) ? make(response, closes: closes) : nil else {
      guard response.status != 500 || !response.headers.isEmpty || !response.body.isEmpty else { return .NO }
      return queue(HTTPResponse(status: 500), closes: true, on: connection)
    }
    // The queue takes its own reference.
    defer { MHD_destroy_response(native) }
    return LibraryReplies.queue(connection, UInt32(response.status), native)
  }

  /// Nil if there is no memory or a header cannot be sent.
  private static func make(_ response: HTTPResponse, closes: Bool) -> OpaquePointer? {
    // MUST_COPY, because libmicrohttpd sends the bytes long after this array is deallocated. It does not write to the
    // buffer.
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

  /// libmicrohttpd refuses line breaks and empty values. However, it sends a name that contains a colon, and cuts a
  /// value at a NUL.
  private static func isSendable(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }
}

/// Replaces libmicrohttpd's own replies.
///
/// libmicrohttpd 0.9.75 refuses some requests before any callback: an unreadable request line or version, a header
/// beyond its memory, a line without a colon. It then queues a page without a `Request-Id`, by calling its public
/// `MHD_queue_response`. The linker looks this name up in the program first. The program therefore defines a function
/// of this name. This function queues the server's own refusal, also under TLS. A library that is linked with
/// `-Bsymbolic` calls its own function instead; Debian's library is not linked in this way.
enum LibraryReplies {
  typealias Queue = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> MHD_Result

  /// The library's own function, found with RTLD_NEXT (-1). glibc declares this constant for GNU sources only.
  private static let next = dlsym(UnsafeMutableRawPointer(bitPattern: -1), "MHD_queue_response").map {
    unsafeBitCast($0, to: Queue.self)
  }

  static func queue(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> MHD_Result {
    next?(connection, status, response) ?? .NO
  }

  /// Queues the server's refusal instead of the library's. `NO` closes the connection without a reply.
  fileprivate static func replace(_ status: UInt32, on native: OpaquePointer) -> MHD_Result {
    // libmicrohttpd 0.9.75 sends the reply's header twice in two cases: the `Content-Length` is unreadable (400 or
    // 413), or no memory is left for a `Cookie` (431).
    guard let raw = mdoc_http_socket_context(native),
      status != 400 || MHD_lookup_connection_value(native, .HEADER_KIND, "Content-Length") == nil,
      status != 431 || MHD_lookup_connection_value(native, .HEADER_KIND, "Cookie") == nil
    else { return .NO }
    let connection = Unmanaged<AcceptedConnection>.fromOpaque(raw).takeUnretainedValue()
    let core = connection.core
    let error: HTTPError
    switch status {
    case 400: error = .malformed("the request line, a header line or a chunk cannot be read")
    case 414: error = .targetTooLong(limit: core.configuration.maxTargetBytes)
    case 431: error = .headersTooLarge(limit: core.configuration.maxHeaderBytes)
    case 505: error = .malformed("the version is neither HTTP/1.1 nor HTTP/1.0")
    default: return .NO
    }
    connection.allow(seconds: core.configuration.responseDeadline)
    let refusal = core.refusal(error, of: connection.exchange?.bareRequest, closes: true)
    return ResponseWriter.queue(refusal, closes: true, on: native)
  }
}

/// Replaces libmicrohttpd's function. The program itself calls `LibraryReplies.queue`. Public, because an optimised
/// build drops an internal function that has no callers in the package.
@_cdecl("MHD_queue_response")
public func queueInsteadOfLibrary(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> UInt32
{
  guard let connection else { return MHD_Result.NO.rawValue }
  return LibraryReplies.replace(status, on: connection).rawValue
}
