import CMicrohttpd

/// A request's header as libmicrohttpd hands it out: pointers into its memory, valid inside one callback only.
struct RawHeader {
  struct Field {
    let name: UnsafeBufferPointer<UInt8>
    let value: UnsafeBufferPointer<UInt8>
  }

  let method: UnsafeBufferPointer<UInt8>
  let version: UnsafeBufferPointer<UInt8>
  let fields: [Field]
  /// From the method's first byte to the last of the empty line.
  let size: Int

  /// Nil only where libmicrohttpd breaks its own contract and passes a null pointer.
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
