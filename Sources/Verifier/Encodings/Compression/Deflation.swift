import CZlib

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

  /// A stream whose content is `chunk` so many times over. The chunk is compressed once: after a full flush the
  /// compressor remembers nothing, so that its output for each further time would be the same.
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
