import CZlib

/// Decompression of untrusted bytes with bounded output.
///
/// The stream is inflated twice: first through a small buffer, to measure its content, then into memory of exactly that
/// size. No memory is thus allocated for a refused stream.
package enum Inflation {
  /// The content of exactly one stream.
  ///
  /// - Parameter limit: the maximum number of bytes of content.
  package static func inflate(
    _ compressed: some Collection<UInt8>, format: CompressedFormat = .zlib, limit: Int
  ) throws(CompressionError) -> [UInt8] {
    let input = Array(compressed)
    // zlib counts bytes in 32 bits.
    guard input.count < Int(UInt32.max), limit < Int(UInt32.max) else { throw .tooLarge }
    let window = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    defer { window.deallocate() }
    let length = try run(input, format: format, through: window, limit: limit)
    var content = [UInt8](repeating: 0, count: length + 1)
    // The spare byte lets the stream end before the buffer is full.
    let written = try content.withUnsafeMutableBufferPointer { output throws(CompressionError) in
      try run(input, format: format, through: output, limit: length)
    }
    content.removeLast(content.count - written)
    return content
  }

  /// Inflates into the buffer and returns the total number of bytes. A full buffer is overwritten from its start.
  private static func run(
    _ input: [UInt8], format: CompressedFormat, through buffer: UnsafeMutableBufferPointer<UInt8>, limit: Int
  ) throws(CompressionError) -> Int {
    var state = z_stream()
    // zlib keeps the address of the state, which must not move.
    return try withUnsafeMutablePointer(to: &state) { stream throws(CompressionError) in
      guard inflateInit2_(stream, format.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw .libraryFailure
      }
      defer { inflateEnd(stream) }
      return try input.withUnsafeBufferPointer { input throws(CompressionError) in
        // zlib only reads the input.
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
    // The input ends before the stream.
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
  /// RFC 1951, without header and checksum.
  case deflate

  /// zlib's argument for the largest window and this format.
  var windowBits: Int32 {
    switch self {
    case .zlib: 15
    case .gzip: 15 + 16
    case .deflate: -15
    }
  }
}

/// The reason why compressed bytes are refused.
package enum CompressionError: Error, Sendable, Hashable {
  /// The bytes have another format, or the checksum is wrong.
  case malformed
  case truncated
  case trailingBytes
  /// The stream needs a dictionary that it does not contain (RFC 1950, 2.2).
  case presetDictionary
  case tooLarge
  /// zlib could not allocate its state.
  case libraryFailure

  /// The fault as text, to follow the name of the bytes.
  package var detail: String {
    switch self {
    case .malformed: "not of the format, or its checksum is wrong"
    case .truncated: "it ends too early"
    case .trailingBytes: "bytes follow its end"
    case .presetDictionary: "it needs a preset dictionary, which is unsupported"
    case .tooLarge: "it inflates to more than the allowed size"
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

  /// Makes a stream whose content is `chunk` repeated `count` times. The chunk is compressed once, since the compressor
  /// produces the same output again after a full flush.
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
    // An empty last block of fixed codes (RFC 1951, 3.2.6), and the checksum.
    output += [0x03, 0x00]
    for shift in stride(from: 24, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: total >> UInt(shift))) }
    return output
  }

  /// Deflate blocks (RFC 1951) without header or end, byte-aligned by a full flush.
  private static func flushed(_ chunk: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard chunk.count < Int(UInt32.max) else { throw .tooLarge }
    var state = z_stream()
    var input = chunk
    // The bound does not include the flush's empty stored block.
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
