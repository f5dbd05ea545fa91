import CMicrohttpd

/// The functions that libmicrohttpd calls, each a thin step into `TransportCore`.
///
/// They run on libmicrohttpd's threads, so they must not belong to any actor: a callback written in `main.swift` would be
/// the main actor's and trap here. Objects travel through C as pointers: the core retained for the daemon's life, a
/// connection retained from STARTED to CLOSED, an exchange unretained, as its connection owns it.
enum MicrohttpdCallbacks {
  /// Before anything is made for a connection; `NO` closes it.
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
      // CLOSED comes before the descriptor is closed, which the sweeper depends on.
      slot.pointee = nil
      core.closed(Unmanaged<ClientConnection>.fromOpaque(raw).takeRetainedValue())
    }
  }

  /// The request line, still as received. What is returned becomes the request's context.
  static let onTarget: mdoc_http_target_callback = { context, target, native in
    guard let core = core(context), let target, let native, let raw = mdoc_http_socket_context(native) else {
      return nil
    }
    let connection = Unmanaged<ClientConnection>.fromOpaque(raw).takeUnretainedValue()
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
      // No reply can be queued while a body arrives, so that one that is too much is cut off.
      return core.receive(bytes, of: exchange) ? .YES : .NO
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
