import Base
import CMicrohttpd

/// Refuses every request with an ambiguous head, before a byte of the body is read.
///
/// libmicrohttpd 0.9.75 accepts two lengths, a length with chunked coding, unknown codings, spaces before the colon,
/// and several `Host` fields. If a proxy interprets such a head differently, a request can be smuggled past it (RFC
/// 9112, 11.2).
enum FramingCheck {
  struct Result {
    var request: HTTPRequest
    /// The declared length of the body in bytes; nil if none is declared, as for a chunked body.
    let contentLength: Int?
    let hasBody: Bool
  }

  static func check(
    _ header: RawHeader, target: [UInt8], remoteAddress: String, limits: HTTPServerConfiguration
  ) throws(HTTPError) -> Result {
    guard target.count <= limits.maxTargetBytes else { throw .targetTooLong(limit: limits.maxTargetBytes) }
    guard header.size <= limits.maxHeaderBytes else { throw .headersTooLarge(limit: limits.maxHeaderBytes) }
    let fields = try header.fields.map(Self.field)
    guard isToken(header.method) else { throw .malformed("method is not a token") }
    guard HeaderLayout.isContiguous(header, targetLength: target.count) else {
      throw .malformed("header contains NUL, a bare LF, a folded line or stray white space")
    }
    let isHTTP10 = header.version.elementsEqual("HTTP/1.0".utf8)
    let method = String(decoding: header.method, as: UTF8.self)
    let parsedTarget = try RequestTarget(target, method: method)
    let headers = HTTPHeaders(fields)
    try checkHost(headers.values("Host"), required: !isHTTP10, authority: parsedTarget.authority)
    let length = try contentLength(headers, header, isHTTP10: isHTTP10)
    if let length, length > limits.maxBodyBytes { throw .bodyTooLarge(limit: limits.maxBodyBytes) }
    let request = HTTPRequest(
      method: method, path: parsedTarget.path, query: parsedTarget.query, headers: headers,
      remoteAddress: remoteAddress)
    let hasBody = length.map { $0 > 0 } ?? headers.contains("Transfer-Encoding")
    return Result(request: request, contentLength: length, hasBody: hasBody)
  }

  /// Checks that the name is a token (no space before the colon, no folded line) and the value has no control
  /// characters but tabs. Trims white space at the value's end.
  private static func field(_ raw: RawHeader.Field) throws(HTTPError) -> (name: String, value: String) {
    guard isToken(raw.name) else { throw .malformed("field name is not a token") }
    guard raw.value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
      throw .malformed("control character in a field value")
    }
    var value = raw.value[...]
    while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
    guard let text = String(validating: value, as: UTF8.self) else { throw .malformed("field value is not UTF-8") }
    guard StreamSafeText.isSafe(text) else { throw .malformed("field value has a long run of combining marks") }
    return (String(decoding: raw.name, as: UTF8.self), text)
  }

  /// Checks that there is one `Host` field (at most one in HTTP/1.0), and that it equals the target's authority (RFC
  /// 9112, 3.2).
  private static func checkHost(_ hosts: [String], required: Bool, authority: String?) throws(HTTPError) {
    guard hosts.count <= 1 else { throw .malformed("more than one Host") }
    guard let host = hosts.first else {
      if required { throw .malformed("no Host") }
      return
    }
    guard host.utf8.allSatisfy(isHostByte) else { throw .malformed("Host is not a host name or address") }
    if let authority, !HTTPHeaders.sameName(authority, host) {
      throw .malformed("Host differs from the request target")
    }
  }

  /// The declared length of the body; nil if none is declared. Accepts one `Content-Length` of digits only. Except in
  /// HTTP/1.0, also accepts one `Transfer-Encoding`, which must be exactly `chunked` (RFC 9112, 6.1 and 6.3).
  ///
  /// libmicrohttpd 0.9.75 accepts a bare LF as the end of a chunk line, and does not report how a line ended (RFC 9112,
  /// 7.1 and 11.2). The connection therefore closes after a chunked body (`TransportCore.send`).
  private static func contentLength(
    _ headers: HTTPHeaders, _ raw: RawHeader, isHTTP10: Bool
  ) throws(HTTPError) -> Int? {
    let lengths = headers.values("Content-Length")
    let codings = headers.values("Transfer-Encoding")
    if !codings.isEmpty {
      guard lengths.isEmpty else { throw .malformed("Content-Length beside Transfer-Encoding") }
      // Check the raw field. If white space follows `chunked`, libmicrohttpd does not recognize the chunks and never
      // stops reading.
      guard codings.count == 1, raw.fields.contains(where: isChunked) else {
        throw .malformed("Transfer-Encoding is not exactly chunked")
      }
      guard !isHTTP10 else { throw .malformed("Transfer-Encoding in HTTP/1.0") }
    }
    guard lengths.count <= 1 else { throw .malformed("more than one Content-Length") }
    guard let text = lengths.first else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
      throw .malformed("Content-Length is not a number")
    }
    return length
  }

  private static func isChunked(_ field: RawHeader.Field) -> Bool {
    folded(field.name, equals: "transfer-encoding") && folded(field.value, equals: "chunked")
  }

  private static func folded(_ bytes: UnsafeBufferPointer<UInt8>, equals lowercase: StaticString) -> Bool {
    bytes.count == lowercase.utf8CodeUnitCount
      && bytes.enumerated().allSatisfy { HTTPHeaders.lowercased($1) == lowercase.utf8Start[$0] }
  }

  private static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "-._~%!$&'()*+;=:[]".utf8.contains(byte)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}

/// A request's header in libmicrohttpd's memory. The pointers are valid only inside one callback.
struct RawHeader {
  struct Field {
    let name: UnsafeBufferPointer<UInt8>
    let value: UnsafeBufferPointer<UInt8>
  }

  let method: UnsafeBufferPointer<UInt8>
  let version: UnsafeBufferPointer<UInt8>
  let fields: [Field]
  /// Number of bytes from the method to the end of the empty line.
  let size: Int

  /// Nil if libmicrohttpd breaks its own contract and passes a null pointer.
  init?(connection: OpaquePointer, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?) {
    guard let method, let version else { return nil }
    self.method = Self.bytes(method)
    self.version = Self.bytes(version)
    size = mdoc_http_header_size(connection)
    var collected: [Field] = []
    collected.reserveCapacity(16)
    withUnsafeMutablePointer(to: &collected) { pointer in
      _ = MHD_get_connection_values_n(connection, .HEADER_KIND, Self.collect, UnsafeMutableRawPointer(pointer))
    }
    fields = collected
  }

  private static let collect: MHD_KeyValueIteratorN = { context, _, name, nameSize, value, valueSize in
    guard let context, let name else { return .NO }
    let field = Field(name: bytes(name, nameSize), value: bytes(value ?? name + nameSize, value == nil ? 0 : valueSize))
    context.assumingMemoryBound(to: [Field].self).pointee.append(field)
    return .YES
  }

  private static func bytes(_ text: UnsafePointer<CChar>) -> UnsafeBufferPointer<UInt8> {
    var count = 0
    while text[count] != 0 { count += 1 }
    return bytes(text, count)
  }

  private static func bytes(_ text: UnsafePointer<CChar>, _ count: Int) -> UnsafeBufferPointer<UInt8> {
    let raw = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: raw, count: count)
  }
}

/// Finds bytes that libmicrohttpd 0.9.75 drops while parsing: bare LF line ends, folded lines, NUL bytes, doubled
/// spaces. A proxy in front may read such bytes as another request (RFC 9112, 2.2, 5.2 and 11.2).
///
/// Only the addresses of the values reveal such bytes. Version 0.9.75 splits the header in place. Each part must
/// therefore start exactly where the previous part and its delimiter end. Only addresses are compared. Other versions
/// may move the strings. libmicrohttpd 1.0 and later versions reject such bytes themselves.
enum HeaderLayout {
  private static let isAuditable = MHD_get_version().map { String(cString: $0) } == "0.9.75"

  /// True if every byte of the header is accounted for. Always true with other versions of libmicrohttpd.
  static func isContiguous(_ header: RawHeader, targetLength: Int) -> Bool {
    guard isAuditable else { return true }
    let start = address(header.method)
    // "GET" SP target SP "HTTP/1.1" CRLF
    var cursor = start + header.method.count + 1 + targetLength + 1
    guard address(header.version) == cursor else { return false }
    cursor += header.version.count + 2
    for field in header.fields {
      // name ":" OWS value CRLF; libmicrohttpd skips white space before the value and keeps white space after it.
      guard address(field.name) == cursor, address(field.value) > cursor + field.name.count else { return false }
      cursor = address(field.value) + field.value.count + 2
    }
    return cursor + 2 == start + header.size
  }

  private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> Int { Int(bitPattern: bytes.baseAddress) }
}

/// A request target (RFC 9112, 3.2), its path still percent-encoded.
struct RequestTarget {
  let path: String
  let query: [(name: String, value: String)]
  /// The authority of a target in absolute form; nil for other forms. It must equal the `Host` field.
  let authority: String?

  init(_ bytes: [UInt8], method: String) throws(HTTPError) {
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
      throw .malformed("byte not allowed in the request target")
    }
    var text = String(decoding: bytes, as: UTF8.self)[...]
    if text == "*" && method == "OPTIONS" {
      (path, query, authority) = ("*", [], nil)
      return
    }
    authority = Self.takeAuthority(&text)
    guard text.first == "/" || (authority != nil && (text.isEmpty || text.first == "?")) else {
      throw .malformed("request target is neither a path nor an http URI")
    }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0].isEmpty ? "/" : String(parts[0])
    guard let members = FormEncoding.members(of: parts.count == 2 ? parts[1] : "") else {
      throw .malformed("query is not percent-encoded UTF-8")
    }
    query = members
  }

  private static func takeAuthority(_ text: inout Substring) -> String? {
    for scheme in ["http://", "https://"] {
      guard text.count > scheme.count, text.prefix(scheme.count).lowercased() == scheme else { continue }
      let rest = text.dropFirst(scheme.count)
      let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
      text = rest[end...]
      return String(rest[..<end])
    }
    return nil
  }
}
