import COpenSSL
import FoundationEssentials

/// Secret bytes: one owner, never printed, wiped when they go.
public struct SecretBytes: ~Copyable, Sendable {
  // Owned by this value alone (it cannot be copied), written only before anyone else sees it, freed in `deinit`; so
  // handing it to another thread is safe.
  nonisolated(unsafe) private let buffer: UnsafeMutableRawBufferPointer

  public var count: Int { buffer.count }

  /// `count` zero bytes, filled by `fill`.
  public init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Void) throws(CryptoError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    do throws(CryptoError) {
      try fill(memory)
    } catch {
      wipe(memory)
      throw error
    }
    buffer = memory
  }

  public init(copying bytes: some ContiguousBytes) {
    buffer = bytes.withUnsafeBytes { source in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
      copy.copyMemory(from: source)
      return copy
    }
  }

  public static func random(count: Int) throws(CryptoError) -> SecretBytes {
    try SecretBytes(count: count) { buffer throws(CryptoError) in try Random.fill(buffer) }
  }

  deinit { wipe(buffer) }

  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(buffer))
  }

  /// An ordinary copy, for what has to be stored or shown; the caller must see to it.
  public borrowing func exposed() -> [UInt8] { Array(UnsafeRawBufferPointer(buffer)) }
}

func cleanse(_ memory: UnsafeMutableRawBufferPointer) { OPENSSL_cleanse(memory.baseAddress, memory.count) }

private func wipe(_ memory: UnsafeMutableRawBufferPointer) {
  cleanse(memory)
  memory.deallocate()
}

/// The operating system's random bytes, through OpenSSL's generator.
public enum Random {
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&output, Int32(count)) == 1 else { throw .libraryFailure }
    return output
  }

  static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    guard RAND_priv_bytes(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(buffer.count)) == 1 else {
      throw .libraryFailure
    }
  }
}

/// Comparison in time that depends on the lengths alone.
public func constantTimeEqual(_ left: some ContiguousBytes, _ right: some ContiguousBytes) -> Bool {
  left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      left.count == right.count && (left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0)
    }
  }
}
