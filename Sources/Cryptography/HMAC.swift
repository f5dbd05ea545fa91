import COpenSSL
import FoundationEssentials

/// HMAC (RFC 2104).
public enum HMAC {
  public static func authenticate(
    _ message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> [UInt8] {
    key.withUnsafeBytes { key in message.withUnsafeBytes { tag(of: $0, key: key, hash: hash) } }
  }

  /// Whether the tag is the whole, untruncated HMAC of the message; compared in constant time.
  public static func isValid(
    _ tag: some ContiguousBytes, of message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> Bool {
    constantTimeEqual(tag, authenticate(message, key: key, hash: hash))
  }

  static func tag(of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, hash: HashAlgorithm) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: hash.digestLength) { output, count in
      var length: UInt32 = 0
      // OpenSSL wants a key pointer even for an empty key.
      let isDone = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
        COpenSSL.HMAC(
          hash.algorithm, key.baseAddress ?? UnsafeRawPointer(empty.baseAddress), Int32(key.count),
          message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count, output.baseAddress, &length) != nil
      }
      // With a fetched digest and a buffer of its size, only exhausted memory could make this fail.
      precondition(isDone, "HMAC failed")
      count = Int(length)
    }
  }
}
