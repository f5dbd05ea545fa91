import COpenSSL
import FoundationEssentials

/// HKDF (RFC 5869) by OpenSSL's KDF.
public enum HKDF {
  public enum Mode: Sendable {
    case extract, expand, extractAndExpand

    fileprivate var value: Int32 {
      switch self {
      case .extractAndExpand: EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND
      case .extract: EVP_KDF_HKDF_MODE_EXTRACT_ONLY
      case .expand: EVP_KDF_HKDF_MODE_EXPAND_ONLY
      }
    }
  }

  /// Bytes of `info`: far more than any mdoc protocol has, and below the bound that OpenSSL's KDF has.
  static let longestInfo = 1024

  /// `HKDF-Expand(HKDF-Extract(salt, secret), info, length)`.
  public static func deriveKey(
    from secret: borrowing SecretBytes, salt: some ContiguousBytes, info: some ContiguousBytes, length: Int,
    hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try run(.extractAndExpand, key: secret, salt: salt, info: info, length: length, hash: hash)
  }

  public static func extract(
    _ secret: borrowing SecretBytes, salt: some ContiguousBytes, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try run(.extract, key: secret, salt: salt, info: [], length: hash.digestLength, hash: hash)
  }

  public static func expand(
    _ pseudorandomKey: borrowing SecretBytes, info: some ContiguousBytes, length: Int, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try run(.expand, key: pseudorandomKey, salt: [], info: info, length: length, hash: hash)
  }

  private static func run(
    _ mode: Mode, key: borrowing SecretBytes, salt: some ContiguousBytes, info: some ContiguousBytes, length: Int,
    hash: HashAlgorithm
  ) throws(CryptoError) -> SecretBytes {
    guard length > 0, length <= 255 * hash.digestLength, info.withUnsafeBytes({ $0.count <= longestInfo }) else {
      throw .invalidLength
    }
    guard let context = EVP_KDF_CTX_new(FetchedKDF.hkdf) else { throw .libraryFailure }
    defer { EVP_KDF_CTX_free(context) }
    return try key.withUnsafeBytes { key throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        let isDerived = salt.withUnsafeBytes { salt in
          info.withUnsafeBytes { info in
            mdoc_hkdf(
              context, mode.value, hash.algorithm, key.baseAddress, key.count, salt.baseAddress, salt.count,
              info.baseAddress, info.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count) == 1
          }
        }
        guard isDerived else {
          ERR_clear_error()
          throw .libraryFailure
        }
      }
    }
  }
}

private enum FetchedKDF {
  // Written once, never freed, immutable in OpenSSL: threads may share it.
  nonisolated(unsafe) static let hkdf = EVP_KDF_fetch(nil, "HKDF", nil)
}
