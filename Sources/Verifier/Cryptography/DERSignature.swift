/// The form in which OpenSSL takes ECDSA signatures: DER `SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279, 2.2.3).
///
/// Written by hand because OpenSSL's way there is two numbers, a structure around them and five allocations.
enum DERSignature {
  /// Of P-521: two numbers of 66 bytes with at most one byte before each, their heads, and the longer outer head.
  static let longest = 3 + 2 * (2 + 67)

  /// Writes r‖s, two equal halves of at most 66 bytes, into a buffer of `longest` bytes; the length written.
  static func write(_ signature: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    precondition(signature.count <= 2 * 66 && output.count >= longest, "the buffer holds the longest signature")
    let half = signature.count / 2
    let r = Number(UnsafeBufferPointer(rebasing: signature[..<half]))
    let s = Number(UnsafeBufferPointer(rebasing: signature[half...]))
    let content = r.length + s.length + 4
    var position = 0
    put(0x30, &position, output)
    if content >= 0x80 { put(0x81, &position, output) }
    put(UInt8(content), &position, output)
    r.write(to: output, &position)
    s.write(to: output, &position)
    return position
  }

  private static func put(_ byte: UInt8, _ position: inout Int, _ output: UnsafeMutableBufferPointer<UInt8>) {
    output[position] = byte
    position += 1
  }

  /// An INTEGER without leading zeros, apart from the one that keeps it positive; zero is one zero byte.
  private struct Number {
    let bytes: UnsafeBufferPointer<UInt8>
    let isPadded: Bool

    var length: Int { bytes.count + (isPadded ? 1 : 0) }

    init(_ padded: UnsafeBufferPointer<UInt8>) {
      bytes = UnsafeBufferPointer(rebasing: padded.drop { $0 == 0 })
      isPadded = bytes.isEmpty || bytes[0] >= 0x80
    }

    func write(to output: UnsafeMutableBufferPointer<UInt8>, _ position: inout Int) {
      put(0x02, &position, output)
      put(UInt8(length), &position, output)
      if isPadded { put(0, &position, output) }
      for byte in bytes { put(byte, &position, output) }
    }
  }
}
