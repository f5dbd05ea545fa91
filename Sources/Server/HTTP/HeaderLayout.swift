import CMicrohttpd

/// Finds what libmicrohttpd 0.9.75 swallows while parsing: bare LF line ends, folded lines, NUL bytes, doubled spaces.
///
/// None of it shows in the values handed out, yet a proxy in front that reads such bytes otherwise sees another request
/// (RFC 9112, 2.2, 5.2 and 11.2). It does show in *where* the values lie: this version cuts the header up in place, so
/// that in a proper one every part starts exactly where the part before it and its delimiter end. Only addresses are
/// compared; no byte outside the strings is read.
///
/// Another version may move its strings, and from 1.0 on rejects all of this itself, so the audit is tied to the
/// version it was measured on.
enum HeaderLayout {
  private static let isAuditable = MHD_get_version().map { String(cString: $0) } == "0.9.75"

  /// Whether every byte of the header is accounted for; `targetLength` is that of the target as it was received.
  static func isContiguous(_ header: RawHeader, targetLength: Int) -> Bool {
    guard isAuditable else { return true }
    let start = address(header.method)
    // "GET" SP target SP "HTTP/1.1" CRLF
    var cursor = start + header.method.count + 1 + targetLength + 1
    guard address(header.version) == cursor else { return false }
    cursor += header.version.count + 2
    for field in header.fields {
      // name ":" OWS value CRLF; libmicrohttpd skips the white space before the value and keeps the one after it.
      guard address(field.name) == cursor, address(field.value) > cursor + field.name.count else { return false }
      cursor = address(field.value) + field.value.count + 2
    }
    return cursor + 2 == start + header.size
  }

  private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    Int(bitPattern: bytes.baseAddress)
  }
}
