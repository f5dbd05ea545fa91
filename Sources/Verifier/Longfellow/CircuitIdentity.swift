import Cryptography

/// The SHA-256 over a circuit's numbers and terms that names it (draft-google-cfrg-libzk, Circuit identifiers). Each
/// number is hashed as eight bytes, so that some hundred megabytes go through a buffer.
final class CircuitIdentity {
  private let hash = RunningHash()
  private let constants: [[UInt8]]
  private let buffer: UnsafeMutablePointer<UInt8>
  private var filled = 0
  private static var capacity: Int { 1 << 16 }
  /// Three numbers and the longest constant.
  private static var termSize: Int { 3 * 8 + 32 }

  init<F: ProofField>(_ constants: [F]) {
    self.constants = constants.map(\.bytes)
    buffer = .allocate(capacity: Self.capacity)
  }

  deinit { buffer.deallocate() }

  private func flush() {
    hash.absorb(UnsafeRawBufferPointer(start: buffer, count: filled))
    filled = 0
  }

  private func put(_ value: Int) {
    UnsafeMutableRawPointer(buffer + filled).storeBytes(of: UInt64(value).littleEndian, as: UInt64.self)
    filled += 8
  }

  func absorb(_ value: Int) {
    if filled + 8 > Self.capacity { flush() }
    put(value)
  }

  func absorb(_ bytes: [UInt8]) {
    flush()
    hash.absorb(bytes)
  }

  func absorb(output: Int, left: Int, right: Int, constant: Int) {
    if filled + Self.termSize > Self.capacity { flush() }
    put(output)
    put(left)
    put(right)
    constants[constant].withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return }
      (buffer + filled).update(from: start, count: bytes.count)
      filled += bytes.count
    }
  }

  func digest() -> [UInt8] {
    flush()
    return hash.digest()
  }
}
