import CZstd

/// The content of one zstd frame (RFC 8878), unpacked a piece at a time: a circuit's text is a hundred megabytes long
/// and is read once, from its start to its end.
struct FrameReader: ~Copyable {
  /// More than any circuit has.
  private static var longest: Int { 130_000_000 }
  /// The most bytes that can be taken at once.
  static var pieceCapacity: Int { 1 << 18 }

  private let compressed: [UInt8]
  private var consumed = 0
  private let stream: OpaquePointer
  private var isFinished = false
  private let piece: UnsafeMutablePointer<UInt8>
  private var (start, end) = (0, 0)
  /// The bytes that the frame announces and that have not been taken.
  private(set) var remaining: Int

  /// - Parameter compressed: one frame that announces its content's size, and nothing else.
  init(_ compressed: [UInt8]) throws(LongfellowError) {
    let size = ZSTD_getFrameContentSize(compressed, compressed.count)
    // An unknown size and an error are the largest numbers.
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

  /// Whether the frame has ended with its last byte taken.
  var isAtEnd: Bool { remaining == 0 && isFinished }

  /// The next bytes, which stay where they are until more are taken.
  mutating func take(_ count: Int) throws(LongfellowError) -> UnsafePointer<UInt8> {
    guard count <= min(remaining, Self.pieceCapacity) else { throw .circuitMalformed }
    if end - start < count {
      piece.update(from: piece + start, count: end - start)
      (start, end) = (0, end - start)
      while end < count { try unpack() }
    }
    defer { start += count }
    remaining -= count
    // Without this the frame's own end would not be read.
    while remaining == 0, !isFinished { try unpack() }
    return UnsafePointer(piece + start)
  }

  /// Adds to the piece what the frame gives next.
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
