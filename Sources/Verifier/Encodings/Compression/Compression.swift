import CZlib

/// Decompression of untrusted bytes, bounded by what may come out.
///
/// A megabyte can stand for a gigabyte, so no claim is believed. The stream first runs through a small buffer that is
/// used again and again, which shows the length of its content and whether it is whole. Only then is it unpacked into
/// memory of just that size. That is twice the work, but a refused stream never gets memory.
package enum Inflation {
  /// The content of exactly one stream.
  ///
  /// - Parameter limit: the most bytes that may come out.
  package static func inflate(
    _ compressed: some Collection<UInt8>, format: CompressedFormat = .zlib, limit: Int
  ) throws(CompressionError) -> [UInt8] {
    let input = Array(compressed)
    // zlib counts the bytes of a buffer in 32 bits.
    guard input.count < Int(UInt32.max), limit < Int(UInt32.max) else { throw .tooLarge }
    let length = try measure(input, format: format, limit: limit)
    var content = [UInt8](repeating: 0, count: length + 1)
    // The byte to spare lets the stream reach its end before the buffer does.
    let written = try content.withUnsafeMutableBufferPointer { output throws(CompressionError) in
      try run(input, format: format, through: output, limit: length)
    }
    content.removeLast(content.count - written)
    return content
  }

  /// How many bytes come out of a stream that is whole and within the limit.
  private static func measure(
    _ input: [UInt8], format: CompressedFormat, limit: Int
  ) throws(CompressionError) -> Int {
    let window = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    defer { window.deallocate() }
    return try run(input, format: format, through: window, limit: limit)
  }

  /// Inflates into the buffer, from its start again whenever it is full, and returns how many bytes came out in all.
  private static func run(
    _ input: [UInt8], format: CompressedFormat, through buffer: UnsafeMutableBufferPointer<UInt8>, limit: Int
  ) throws(CompressionError) -> Int {
    var state = z_stream()
    // zlib keeps the address of the state, which therefore must not move while it is in use.
    return try withUnsafeMutablePointer(to: &state) { stream throws(CompressionError) in
      guard inflateInit2_(stream, format.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw .libraryFailure
      }
      defer { inflateEnd(stream) }
      return try input.withUnsafeBufferPointer { input throws(CompressionError) in
        // zlib only reads the input, although the pointer's type allows writing.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        while true {
          stream.pointee.next_out = buffer.baseAddress
          stream.pointee.avail_out = UInt32(buffer.count)
          let result = CZlib.inflate(stream, Z_NO_FLUSH)
          let length = Int(stream.pointee.total_out)
          guard length <= limit else { throw .tooLarge }
          if result == Z_OK, stream.pointee.avail_out == 0 { continue }
          guard result == Z_STREAM_END else { throw error(result) }
          guard stream.pointee.avail_in == 0 else { throw .trailingBytes }
          return length
        }
      }
    }
  }

  private static func error(_ result: Int32) -> CompressionError {
    switch result {
    // All input is used, and the stream has not ended.
    case Z_OK, Z_BUF_ERROR: .truncated
    case Z_NEED_DICT: .presetDictionary
    case Z_MEM_ERROR: .libraryFailure
    default: .malformed
    }
  }
}

/// The format around the compressed bytes.
package enum CompressedFormat: Sendable, Hashable, CaseIterable {
  /// RFC 1950.
  case zlib
  /// RFC 1952, one member.
  case gzip
  /// RFC 1951, without a header and a checksum.
  case deflate

  /// zlib's argument for the largest window, with the format added.
  var windowBits: Int32 {
    switch self {
    case .zlib: 15
    case .gzip: 15 + 16
    case .deflate: -15
    }
  }
}

/// Why compressed bytes were refused.
package enum CompressionError: Error, Sendable, Hashable {
  /// The bytes are not of the format, or the checksum does not fit.
  case malformed
  /// The stream ends before its own end.
  case truncated
  /// Bytes follow the stream's end.
  case trailingBytes
  /// The stream needs a dictionary that it does not carry (RFC 1950, 2.2).
  case presetDictionary
  /// More comes out than was allowed.
  case tooLarge
  /// zlib could not allocate its own state.
  case libraryFailure

  /// The fault in words, which follow the name of the bytes.
  package var detail: String {
    switch self {
    case .malformed: "not of the format, or its checksum is wrong"
    case .truncated: "it ends too early"
    case .trailingBytes: "bytes follow its end"
    case .presetDictionary: "it needs a dictionary that it does not carry"
    case .tooLarge: "it inflates to more than is allowed"
    case .libraryFailure: "zlib failed"
    }
  }
}

/// Compression into a zlib stream (RFC 1950).
package enum Deflation {
  package static func deflate(_ content: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard content.count < Int(UInt32.max) else { throw .tooLarge }
    var length = compressBound(UInt(content.count))
    var output = [UInt8](repeating: 0, count: Int(length))
    guard compress2(&output, &length, content, UInt(content.count), Z_BEST_COMPRESSION) == Z_OK else {
      throw .libraryFailure
    }
    return Array(output.prefix(Int(length)))
  }

  /// A stream whose content is `chunk` repeated this many times. The chunk is compressed once: after a full flush the
  /// compressor remembers nothing, so its output would be the same each time.
  package static func deflate(repeating chunk: [UInt8], count: Int) throws(CompressionError) -> [UInt8] {
    let part = try flushed(chunk)
    let sum = adler32(1, chunk, UInt32(chunk.count))
    var total = adler32(0, nil, 0)
    // Deflate, 32 KiB window, no dictionary, best compression (RFC 1950, 2.2).
    var output: [UInt8] = [0x78, 0xda]
    for _ in 0..<count {
      output += part
      total = adler32_combine(total, sum, chunk.count)
    }
    // An empty last block of fixed codes (RFC 1951, 3.2.6), then the checksum.
    output += [0x03, 0x00]
    for shift in stride(from: 24, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: total >> UInt(shift))) }
    return output
  }

  /// Deflate blocks (RFC 1951) without header or end, byte-aligned by a full flush.
  private static func flushed(_ chunk: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard chunk.count < Int(UInt32.max) else { throw .tooLarge }
    var state = z_stream()
    var input = chunk
    // The flush adds an empty stored block, which the bound does not count.
    var output = [UInt8](repeating: 0, count: Int(compressBound(UInt(chunk.count))) + 16)
    let written: Int? = withUnsafeMutablePointer(to: &state) { stream in
      let size = Int32(MemoryLayout<z_stream>.size)
      // A negative window: no header and no checksum.
      guard
        deflateInit2_(stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
      else { return nil }
      defer { deflateEnd(stream) }
      return input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
          stream.pointee.next_in = input.baseAddress
          stream.pointee.avail_in = UInt32(input.count)
          stream.pointee.next_out = output.baseAddress
          stream.pointee.avail_out = UInt32(output.count)
          guard CZlib.deflate(stream, Z_FULL_FLUSH) == Z_OK, stream.pointee.avail_in == 0 else { return nil }
          return output.count - Int(stream.pointee.avail_out)
        }
      }
    }
    guard let written else { throw .libraryFailure }
    return Array(output.prefix(written))
  }
}
