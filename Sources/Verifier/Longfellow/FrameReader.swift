import CZstd

/// The content of one zstd frame (RFC 8878), unpacked piece by piece. A circuit has a hundred megabytes, and each byte
/// is read only once.
struct FrameReader: ~Copyable {
  /// A length that no circuit reaches.
  private static var longest: Int { 130_000_000 }
  /// Maximum number of bytes for one `take`.
  static var pieceCapacity: Int { 1 << 18 }

  private let compressed: [UInt8]
  private var consumed = 0
  private let stream: OpaquePointer
  private var isFinished = false
  private let piece: UnsafeMutablePointer<UInt8>
  private var (start, end) = (0, 0)
  /// The number of announced bytes that were not yet taken.
  private(set) var remaining: Int

  /// - Parameter compressed: exactly one frame, which announces its content's size.
  init(_ compressed: [UInt8]) throws(LongfellowError) {
    let size = ZSTD_getFrameContentSize(compressed, compressed.count)
    // For an unknown size or an error, zstd returns the largest numbers.
    guard size <= Self.longest, ZSTD_findFrameCompressedSize(compressed, compressed.count) == compressed.count else {
      throw .circuitMalformed
    }
    guard let stream = ZSTD_createDStream() else { preconditionFailure("no memory") }
    // A window of 4 MiB.
    precondition(ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 22)) == 0)
    self.stream = stream
    self.compressed = compressed
    remaining = Int(size)
    piece = .allocate(capacity: Self.pieceCapacity)
  }

  deinit {
    ZSTD_freeDStream(stream)
    piece.deallocate()
  }

  /// True if the frame has ended and its last byte was taken.
  var isAtEnd: Bool { remaining == 0 && isFinished }

  /// Takes the next bytes. The pointer is valid until the next call.
  mutating func take(_ count: Int) throws(LongfellowError) -> UnsafePointer<UInt8> {
    guard count <= min(remaining, Self.pieceCapacity) else { throw .circuitMalformed }
    if end - start < count {
      piece.update(from: piece + start, count: end - start)
      (start, end) = (0, end - start)
      while end < count { try unpack() }
    }
    defer { start += count }
    remaining -= count
    // This loop also reads the end of the frame.
    while remaining == 0, !isFinished { try unpack() }
    return UnsafePointer(piece + start)
  }

  /// Adds the frame's next output to the piece.
  private mutating func unpack() throws(LongfellowError) {
    var output = ZSTD_outBuffer(dst: piece, size: Self.pieceCapacity, pos: end)
    let (before, wasConsumed) = (end, consumed)
    var result = 0
    compressed.withUnsafeBytes { bytes in
      var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: consumed)
      result = ZSTD_decompressStream(stream, &output, &input)
      consumed = input.pos
    }
    end = output.pos
    isFinished = result == 0
    guard ZSTD_isError(result) == 0, isFinished || end > before || consumed > wasConsumed else {
      throw .circuitMalformed
    }
  }
}
