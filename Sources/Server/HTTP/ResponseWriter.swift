import CMicrohttpd

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
    return MHD_queue_response(connection, UInt32(response.status), native)
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

  /// libmicrohttpd refuses line breaks and empty values itself, but would send a name with a colon, and cut at a NUL.
  private static func isSendable(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }
}
