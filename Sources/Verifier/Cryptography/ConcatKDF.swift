import COpenSSL
import FoundationEssentials

/// The concatenation key derivation function (NIST SP 800-56A, 5.8.1) as OpenSSL's single-step KDF: what ECDH-ES of
/// JOSE derives its keys with (RFC 7518, 4.6.2).
public enum ConcatKDF {
  /// - Parameter info: OtherInfo, whole; at most what one protocol message can hold.
  public static func deriveKey(
    from secret: borrowing SecretBytes, info: some ContiguousBytes, length: Int, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    guard length > 0, length <= 255 * hash.digestLength else { throw .invalidLength }
    return try secret.withUnsafeBytes { secret throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        let isDerived = info.withUnsafeBytes { info in
          mdoc_single_step_kdf(
            FetchedKDF.singleStep, hash.algorithm, secret.baseAddress, secret.count, info.baseAddress, info.count,
            output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count) == 1
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
  nonisolated(unsafe) static let singleStep = EVP_KDF_fetch(nil, "SSKDF", nil)  // proof above
}
