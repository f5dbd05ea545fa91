import FoundationEssentials

/// HKDF (RFC 5869): two uses of OpenSSL's HMAC.
///
/// OpenSSL's own KDF looks its parts up by name at every call, which costs three times as much; HPKE derives six times.
public enum HKDF {
  /// Bytes of `info`: far more than any mdoc protocol has.
  static let longestInfo = 1024

  /// `HKDF-Expand(HKDF-Extract(salt, secret), info, length)`.
  public static func deriveKey(
    from secret: borrowing SecretBytes, salt: some ContiguousBytes, info: some ContiguousBytes, length: Int,
    hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try expand(extract(secret, salt: salt, hash: hash), info: info, length: length, hash: hash)
  }

  /// `HMAC(salt, secret)`; an absent salt is an empty one.
  public static func extract(
    _ secret: borrowing SecretBytes, salt: some ContiguousBytes, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try secret.withUnsafeBytes { secret throws(CryptoError) in
      try SecretBytes(count: hash.digestLength) { output throws(CryptoError) in
        guard salt.withUnsafeBytes({ HMAC.compute([secret], key: $0, hash: hash, into: output) }) else {
          throw .libraryFailure
        }
      }
    }
  }

  /// T(1) ‖ T(2) ‖ …, where T(i) = HMAC(key, T(i−1) ‖ info ‖ i), cut to the length.
  public static func expand(
    _ pseudorandomKey: borrowing SecretBytes, info: some ContiguousBytes, length: Int, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    guard length > 0, length <= 255 * hash.digestLength, info.withUnsafeBytes({ $0.count <= longestInfo }) else {
      throw .invalidLength
    }
    return try pseudorandomKey.withUnsafeBytes { key throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        guard info.withUnsafeBytes({ expand(key, info: $0, hash: hash, into: output) }) else { throw .libraryFailure }
      }
    }
  }

  private static func expand(
    _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, hash: HashAlgorithm,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: hash.digestLength, alignment: 1) { block in
      defer { cleanse(block) }
      var counter: UInt8 = 0
      for start in stride(from: 0, to: output.count, by: hash.digestLength) {
        counter += 1
        let previous = counter == 1 ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(block)
        let isDone = withUnsafeBytes(of: counter) { index in
          HMAC.compute([previous, info, index], key: key, hash: hash, into: block)
        }
        guard isDone else { return false }
        let end = min(start + hash.digestLength, output.count)
        UnsafeMutableRawBufferPointer(rebasing: output[start..<end]).copyBytes(from: block[..<(end - start)])
      }
      return true
    }
  }
}
