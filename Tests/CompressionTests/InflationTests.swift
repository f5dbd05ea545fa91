import Compression
import FoundationEssentials
import Testing

@Suite struct InflationTests {
  private let text = Array("A verifier believes nothing. A verifier believes nothing.".utf8)

  @Test(arguments: [0, 1, 2, 1_000, 65_535, 65_536, 65_537, 1 << 20])
  func whatIsDeflatedComesBack(length: Int) throws {
    let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
    #expect(try Inflation.inflate(Deflation.deflate(content), limit: length) == content)
  }

  @Test func aRepeatedChunkIsAStreamLikeOthers() throws {
    for count in [0, 1, 2, 100] {
      let stream = try Deflation.deflate(repeating: text, count: count)
      let content = Array(repeatElement(text, count: count).joined())
      #expect(try Inflation.inflate(stream, limit: 1 << 20) == content)
    }
  }

  @Test func theLimitIsTheLastLengthThatPasses() throws {
    let stream = try Deflation.deflate(text)
    #expect(try Inflation.inflate(stream, limit: text.count) == text)
    #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(stream, limit: text.count - 1) }
    #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(stream, limit: 0) }
    #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(stream, limit: -1) }
  }

  @Test func aStreamThatIsCutAnywhereIsTruncated() throws {
    let stream = try Deflation.deflate(text)
    for length in 0..<stream.count {
      #expect(throws: CompressionError.truncated) { try Inflation.inflate(stream.prefix(length), limit: 1 << 20) }
    }
  }

  @Test func bytesAfterTheEndAreRefused() throws {
    let stream = try Deflation.deflate(text)
    #expect(throws: CompressionError.trailingBytes) { try Inflation.inflate(stream + [0], limit: 1 << 20) }
    #expect(throws: CompressionError.trailingBytes) { try Inflation.inflate(stream + stream, limit: 1 << 20) }
  }

  @Test func damageIsMalformed() throws {
    let stream = try Deflation.deflate(text)
    var checksum = stream
    checksum[stream.count - 1] ^= 1
    #expect(throws: CompressionError.malformed) { try Inflation.inflate(checksum, limit: 1 << 20) }
    #expect(throws: CompressionError.malformed) { try Inflation.inflate(text, limit: 1 << 20) }
    #expect(throws: CompressionError.malformed) { try Inflation.inflate([0x08] + stream.dropFirst(), limit: 1 << 20) }
  }

  /// FDICT set, with matching check bits (RFC 1950, 2.2).
  @Test func aPresetDictionaryIsRefused() throws {
    let stream = try Deflation.deflate(text)
    let withDictionary = [0x78, 0xf9, 0, 0, 0, 1] + stream.dropFirst(2)
    #expect(throws: CompressionError.presetDictionary) { try Inflation.inflate(withDictionary, limit: 1 << 20) }
  }

  @Test func formatsAreNotTakenForEachOther() throws {
    let zlib = try Deflation.deflate(text)
    #expect(throws: CompressionError.malformed) { try Inflation.inflate(zlib, format: .gzip, limit: 1 << 20) }
    #expect(throws: CompressionError.malformed) { try Inflation.inflate(Self.gzip, format: .zlib, limit: 1 << 20) }
    #expect(throws: CompressionError.malformed) { try Inflation.inflate(zlib.dropFirst(2), limit: 1 << 20) }
  }

  /// One stored block "mdoc" with its CRC-32 (RFC 1952, 2.3).
  private static let gzip: [UInt8] =
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 4, 0, 0xfb, 0xff] + Array("mdoc".utf8)
    + [0xb4, 0xd4, 0x08, 0x91, 4, 0, 0, 0]

  @Test func gzipIsReadToo() throws {
    #expect(try Inflation.inflate(Self.gzip, format: .gzip, limit: 4) == Array("mdoc".utf8))
    #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(Self.gzip, format: .gzip, limit: 3) }
    #expect(throws: CompressionError.trailingBytes) {
      try Inflation.inflate(Self.gzip + Self.gzip, format: .gzip, limit: 100)
    }
  }

  /// In a separate process, where nothing else takes memory.
  @Test func aGigabyteOfZerosCostsNoMemory() async {
    await #expect(processExitsWith: .success) {
      let bomb = try Deflation.deflate(repeating: [UInt8](repeating: 0, count: 1 << 20), count: 1 << 10)
      #expect(bomb.count < 2 << 20)
      let before = peakMemory()
      #expect(before > 0)
      #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(bomb, limit: 16 << 20) }
      #expect(throws: CompressionError.tooLarge) { try Inflation.inflate(bomb, limit: (1 << 30) - 1) }
      #expect(peakMemory() - before < 4 << 20)
    }
  }
}

/// The most memory that this process ever had resident, in bytes.
private func peakMemory() -> Int {
  let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
  let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0) << 10
}
