import Cryptography

/// The Fiat–Shamir transcript: a running SHA-256 of what is written, and AES-256 streams for what is read
/// (draft-google-cfrg-libzk, Transcript).
package struct Transcript: ~Copyable {
  private let hash = RunningHash()
  private let cipher = AESBlocks()
  private var isKeyed = false
  private var stream: [UInt8] = []
  private var position = 0
  private var counter: UInt64 = 0

  private let arrayTag: UInt8

  /// - Parameters:
  ///   - session: the first byte string.
  ///   - arrayTag: what comes before an array; 1 in proofs of version 3, which are for tests only.
  package init(session: [UInt8], arrayTag: UInt8 = 2) {
    self.arrayTag = arrayTag
    write(bytes: session)
  }

  package mutating func write(bytes: [UInt8]) {
    isKeyed = false
    hash.absorb([0] + Self.length(bytes.count) + bytes)
  }

  /// Writes a byte string of so many zeros.
  package mutating func write(zeros count: Int) {
    isKeyed = false
    hash.absorb([0] + Self.length(count))
    let zeros = [UInt8](repeating: 0, count: 1 << 14)
    for start in stride(from: 0, to: count, by: zeros.count) {
      zeros.withUnsafeBytes { hash.absorb(UnsafeRawBufferPointer(rebasing: $0.prefix(count - start))) }
    }
  }

  package mutating func write<F: ProofField>(element: F) {
    isKeyed = false
    hash.absorb([1] + element.bytes)
  }

  package mutating func write<F: ProofField>(array: ArraySlice<F>) {
    isKeyed = false
    hash.absorb([arrayTag] + Self.length(array.count))
    for element in array { hash.absorb(element.bytes) }
  }

  private static func length(_ count: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: UInt64(count) >> UInt64(8 * $0)) }
  }

  /// The stream's next bytes; the first read after a write starts a new stream.
  private mutating func read(_ count: Int) -> [UInt8] {
    if !isKeyed {
      cipher.setKey(hash.digest())
      isKeyed = true
      (stream, position, counter) = ([], 0, 0)
    }
    while stream.count - position < count {
      stream.removeFirst(position)
      position = 0
      var blocks = [UInt8](repeating: 0, count: counter == 0 ? 64 : 1024)
      for block in 0..<(blocks.count / 16) {
        for byte in 0..<8 { blocks[16 * block + byte] = UInt8(truncatingIfNeeded: counter >> UInt64(8 * byte)) }
        counter += 1
      }
      stream += cipher.encrypt(blocks)
    }
    defer { position += count }
    return Array(stream[position..<(position + count)])
  }

  package mutating func element<F: ProofField>(_: F.Type = F.self) -> F {
    while true {
      if let element = read(F.byteCount).withUnsafeBufferPointer({ $0.baseAddress.flatMap { F($0) } }) {
        return element
      }
    }
  }

  package mutating func elements<F: ProofField>(_ count: Int, _: F.Type = F.self) -> [F] {
    var elements: [F] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(element()) }
    return elements
  }

  /// A number below `bound`, which is positive.
  package mutating func number(below bound: Int) -> Int {
    let bits = Int.bitWidth - bound.leadingZeroBitCount
    while true {
      let value = read((bits + 7) / 8).reversed().reduce(0) { $0 << 8 | Int($1) } & ((1 << bits) - 1)
      if value < bound { return value }
    }
  }

  /// Different numbers below `bound`, in the order of choice.
  package mutating func choose(_ count: Int, of bound: Int) -> [Int] {
    var numbers = Array(0..<bound)
    for index in 0..<count { numbers.swapAt(index, index + number(below: bound - index)) }
    return Array(numbers.prefix(count))
  }
}
