import Cryptography

/// The bytes that hide a credential: AES-256 of a counter under a secret seed. Whoever knows the seed can undo the
/// proof, and two proofs must never have the same one.
package struct ProverRandomness: ~Copyable {
  private let cipher = AESBlocks()
  private var counter: UInt64 = 0
  private var buffer: [UInt8] = []
  private var position = 0

  /// - Parameter seed: 32 bytes. A fixed one is for tests alone.
  package init(seed: [UInt8]) { cipher.setKey(seed) }

  /// Seeded by the operating system.
  package init() throws(CryptoError) { self.init(seed: try Random.bytes(32)) }

  private mutating func refill() {
    var blocks = [UInt8](repeating: 0, count: 4096)
    blocks.withUnsafeMutableBytes { blocks in
      for block in 0..<256 {
        blocks.storeBytes(of: counter.littleEndian, toByteOffset: 16 * block, as: UInt64.self)
        counter += 1
      }
    }
    buffer = cipher.encrypt(blocks)
    position = 0
  }

  mutating func next() -> UInt64 {
    if position + 8 > buffer.count { refill() }
    defer { position += 8 }
    return buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) }.littleEndian
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: next().littleEndian) { bytes += $0 } }
    return Array(bytes.prefix(count))
  }
}
