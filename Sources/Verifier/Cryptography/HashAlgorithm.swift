import COpenSSL
import FoundationEssentials

/// The SHA-2 functions that mdocs use (ISO/IEC 18013-5, 9.1.2.5), and SHA-1 for key identifiers alone.
public enum HashAlgorithm: Sendable, Hashable, CaseIterable {
  case sha256, sha384, sha512
  /// Only for subject key identifiers (RFC 5280, 4.2.1.2), never for signatures.
  case sha1

  public var digestLength: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  public func hash(_ data: some ContiguousBytes) -> [UInt8] {
    data.withUnsafeBytes { input in
      [UInt8](unsafeUninitializedCapacity: digestLength) { output, count in
        var length: UInt32 = 0
        // With a fetched digest and a buffer of its size, only exhausted memory could make this fail.
        precondition(
          EVP_Digest(input.baseAddress, input.count, output.baseAddress, &length, algorithm, nil) == 1,
          "SHA-2 failed")
        count = Int(length)
      }
    }
  }

  /// Whether the digest of `data` is exactly `expected`; nothing is allocated.
  public func matches(_ expected: some ContiguousBytes, digestOf data: some ContiguousBytes) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { output in
      var length: UInt32 = 0
      let isHashed = data.withUnsafeBytes { input in
        EVP_Digest(input.baseAddress, input.count, output.baseAddress, &length, algorithm, nil) == 1
      }
      return isHashed
        && expected.withUnsafeBytes { expected in
          expected.count == Int(length) && CRYPTO_memcmp(expected.baseAddress, output.baseAddress, expected.count) == 0
        }
    }
  }

  package var algorithm: OpaquePointer? {
    switch self {
    case .sha1: FetchedDigests.sha1
    case .sha256: FetchedDigests.sha256
    case .sha384: FetchedDigests.sha384
    case .sha512: FetchedDigests.sha512
    }
  }
}

/// Fetched once: an implicit fetch costs more than hashing a short item, and takes a lock.
///
/// The pointers are written once and never freed, and OpenSSL's fetched methods are immutable and may be used from any
/// thread, so sharing them is safe.
private enum FetchedDigests {
  nonisolated(unsafe) static let sha1 = EVP_MD_fetch(nil, "SHA1", nil)  // proof above
  nonisolated(unsafe) static let sha256 = EVP_MD_fetch(nil, "SHA256", nil)  // proof above
  nonisolated(unsafe) static let sha384 = EVP_MD_fetch(nil, "SHA384", nil)  // proof above
  nonisolated(unsafe) static let sha512 = EVP_MD_fetch(nil, "SHA512", nil)  // proof above
}
