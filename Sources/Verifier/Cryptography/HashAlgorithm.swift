import COpenSSL
import FoundationEssentials

/// The SHA-2 functions of mdocs (ISO/IEC 18013-5, 9.1.2.5), and SHA-1 for key identifiers only.
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
        // Only exhausted memory can make this fail: the algorithm is fetched, and the buffer is as long as the digest.
        precondition(digest(input, to: output), "SHA-2 failed")
        count = digestLength
      }
    }
  }

  /// True if the digest of `data` is exactly `expected`; nothing is allocated.
  public func matches(_ expected: some ContiguousBytes, digestOf data: some ContiguousBytes) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: digestLength) { output in
      data.withUnsafeBytes { digest($0, to: output) }
        && expected.withUnsafeBytes { expected in
          expected.count == output.count && CRYPTO_memcmp(expected.baseAddress, output.baseAddress, expected.count) == 0
        }
    }
  }

  /// - Parameter output: a buffer of at least the digest's length.
  func digest(_ input: UnsafeRawBufferPointer, to output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil) == 1
  }

  package var algorithm: OpaquePointer? {
    switch self {
    case .sha1: Self.fetchedSHA1
    case .sha256: Self.fetchedSHA256
    case .sha384: Self.fetchedSHA384
    case .sha512: Self.fetchedSHA512
    }
  }

  // Fetched once: an implicit fetch takes a lock and costs more than hashing a short item. Threads may share them: they
  // are set once, never freed, and immutable in OpenSSL.
  nonisolated(unsafe) private static let fetchedSHA1 = EVP_MD_fetch(nil, "SHA1", nil)  // proof above
  nonisolated(unsafe) private static let fetchedSHA256 = EVP_MD_fetch(nil, "SHA256", nil)  // proof above
  nonisolated(unsafe) private static let fetchedSHA384 = EVP_MD_fetch(nil, "SHA384", nil)  // proof above
  nonisolated(unsafe) private static let fetchedSHA512 = EVP_MD_fetch(nil, "SHA512", nil)  // proof above
}
