import CMicrohttpd
import Glibc

/// Stands between libmicrohttpd and its own replies.
///
/// libmicrohttpd 0.9.75 refuses some requests before any callback of ours: a request line or version that it cannot
/// read, a header beyond its memory, a line without a colon. It queues a page of its own then, without a `Request-Id`,
/// and tells only its log. But it queues it by its public `MHD_queue_response`, as callers do, and looks that up as
/// every shared library looks up its functions: in the program first. So the program defines one. It puts the edge's
/// refusal in the page's place, under TLS too.
///
/// A library that was linked with `-Bsymbolic` would call its own; Debian's is not. The conformance tests would show it.
enum LibraryReplies {
  typealias Queue = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> MHD_Result

  /// The library's own function, which is the next one after the program's; nil if there is none.
  private static let next: Queue? = {
    // RTLD_NEXT, which glibc shows to GNU sources only.
    dlsym(UnsafeMutableRawPointer(bitPattern: -1), "MHD_queue_response").map { unsafeBitCast($0, to: Queue.self) }
  }()

  static func queue(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> MHD_Result {
    next?(connection, status, response) ?? .NO
  }

  /// Queues the edge's refusal instead of the library's; `NO` closes the connection without a reply.
  fileprivate static func replace(_ status: UInt32, on native: OpaquePointer) -> MHD_Result {
    // After a `Content-Length` that it cannot read (400 or 413), or a `Cookie` for which it has no memory (431), this
    // version sends the reply's header twice.
    guard let raw = mdoc_http_socket_context(native),
      status != 400 || MHD_lookup_connection_value(native, .HEADER_KIND, "Content-Length") == nil,
      status != 431 || MHD_lookup_connection_value(native, .HEADER_KIND, "Cookie") == nil
    else { return .NO }
    let connection = Unmanaged<AcceptedConnection>.fromOpaque(raw).takeUnretainedValue()
    let core = connection.core
    let fault: HTTPFault
    switch status {
    case 400: fault = .malformed("the request line, a header line or a chunk cannot be read")
    case 414: fault = .targetTooLong(limit: core.configuration.maxTargetBytes)
    case 431: fault = .headersTooLarge(limit: core.configuration.maxHeaderBytes)
    case 505: fault = .malformed("the version is neither HTTP/1.1 nor HTTP/1.0")
    default: return .NO
    }
    connection.allow(seconds: core.configuration.responseDeadline)
    let refusal = core.refusal(fault, of: connection.exchange?.bareRequest, closes: true)
    return ResponseWriter.queue(refusal.response, closes: true, on: native)
  }
}

/// Takes the place of libmicrohttpd's function. The program calls `LibraryReplies.queue`. Public, since an optimised
/// build keeps no other function that nothing in the package calls.
@_cdecl("MHD_queue_response")
public func queueInsteadOfLibrary(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> UInt32
{
  guard let connection else { return MHD_Result.NO.rawValue }
  return LibraryReplies.replace(status, on: connection).rawValue
}
