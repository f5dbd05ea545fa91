import COpenSSL
import FoundationEssentials

/// Secret bytes: one owner, never printed, wiped when freed.
public struct SecretBytes: ~Copyable, Sendable {
  // This value owns the buffer and cannot be copied. The initialiser writes the buffer; `deinit` frees it. The value
  // may therefore move to another thread.
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

  /// An ordinary copy that is not wiped, for storing or showing the secret.
  public borrowing func exposed() -> [UInt8] { Array(UnsafeRawBufferPointer(buffer)) }
}

extension UnsafeRawBufferPointer {
  /// The first byte's address, in the type that OpenSSL expects.
  var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
  /// The first byte's address, in the type that OpenSSL expects.
  var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

func cleanse(_ memory: UnsafeMutableRawBufferPointer) { OPENSSL_cleanse(memory.baseAddress, memory.count) }

private func wipe(_ memory: UnsafeMutableRawBufferPointer) {
  cleanse(memory)
  memory.deallocate()
}

/// Random bytes from OpenSSL's generator, which the operating system seeds.
public enum Random {
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&output, Int32(count)) == 1 else { throw .libraryFailure }
    return output
  }

  static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    guard RAND_priv_bytes(buffer.octets, Int32(buffer.count)) == 1 else { throw .libraryFailure }
  }
}

/// Compares bytes in a time that depends only on the lengths.
public func constantTimeEqual(_ left: some ContiguousBytes, _ right: some ContiguousBytes) -> Bool {
  left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      left.count == right.count && (left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0)
    }
  }
}

/// Decodes secrets that are written as text. Every intermediate copy is wiped.
extension SecretBytes {
  /// Decodes base64 with padding (RFC 4648, 4); nil for any other text. As in `Base64`, each byte string has exactly
  /// one accepted text: no white space, no stray bits.
  public static func decoding(base64 text: UnsafeRawBufferPointer) -> SecretBytes? {
    guard !text.isEmpty, text.count % 4 == 0, text.count < 1 << 20 else { return nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    let decoded = try? SecretBytes(count: text.count / 4 * 3) { output throws(CryptoError) in
      defer { ERR_clear_error() }
      let count = EVP_DecodeBlock(output.octets, text.octets, Int32(text.count))
      guard count == output.count else { throw .invalidLength }
    }
    guard let whole = decoded else { return nil }
    let bytes = whole.withUnsafeBytes { SecretBytes(copying: $0.dropLast(padding)) }
    guard bytes.isWritten(inBase64: text) else { return nil }
    return bytes
  }

  /// Decodes base64url without padding (RFC 4648, 5); nil for any other text.
  public static func decoding(base64URLSafe text: UnsafeRawBufferPointer) -> SecretBytes? {
    let padding = (4 - text.count % 4) % 4
    let standard = try? SecretBytes(count: text.count + padding) { output throws(CryptoError) in
      for (index, character) in text.enumerated() {
        switch character {
        case UInt8(ascii: "-"): output[index] = UInt8(ascii: "+")
        case UInt8(ascii: "_"): output[index] = UInt8(ascii: "/")
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): throw .invalidLength
        default: output[index] = character
        }
      }
      for index in text.count..<output.count { output[index] = UInt8(ascii: "=") }
    }
    guard let text = standard else { return nil }
    return text.withUnsafeBytes { decoding(base64: $0) }
  }

  /// Decodes hexadecimal digits; nil for any other text.
  public static func decoding(hex text: UnsafeRawBufferPointer) -> SecretBytes? {
    guard text.count % 2 == 0 else { return nil }
    return try? SecretBytes(count: text.count / 2) { output throws(CryptoError) in
      for index in output.indices {
        let high = OPENSSL_hexchar2int(text[2 * index])
        let low = OPENSSL_hexchar2int(text[2 * index + 1])
        guard high >= 0, low >= 0 else { throw .invalidLength }
        output[index] = UInt8(high << 4 | low)
      }
    }
  }

  private borrowing func isWritten(inBase64 text: UnsafeRawBufferPointer) -> Bool {
    // The encoder ends its text with a zero byte.
    let again = try? SecretBytes(count: text.count + 1) { output throws(CryptoError) in
      let count = withUnsafeBytes { EVP_EncodeBlock(output.octets, $0.octets, Int32($0.count)) }
      guard Int(count) == text.count else { throw .invalidLength }
    }
    guard let again else { return false }
    return again.withUnsafeBytes { constantTimeEqual(UnsafeRawBufferPointer(rebasing: $0.dropLast()), text) }
  }
}

/// A secret with several owners. It is wiped with the last reference.
public final class SharedSecret: Sendable {
  public let bytes: SecretBytes

  public init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  /// Makes a shared secret that owns a copy of the bytes.
  public convenience init(copying bytes: borrowing SecretBytes) {
    self.init(bytes.withUnsafeBytes { SecretBytes(copying: $0) })
  }
}
