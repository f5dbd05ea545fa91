import COpenSSL
import FoundationEssentials

/// HMAC (RFC 2104) by OpenSSL's MAC.
public enum HMAC {
  public static func authenticate(
    _ message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> [UInt8] {
    let tag = key.withUnsafeBytes { key in
      message.withUnsafeBytes { message in
        [UInt8](unsafeUninitializedCapacity: hash.digestLength) { output, count in
          if compute([message], key: key, hash: hash, into: UnsafeMutableRawBufferPointer(output)) {
            count = hash.digestLength
          }
        }
      }
    }
    // With a fetched algorithm and a buffer of its size, only exhausted memory could make this fail.
    precondition(tag.count == hash.digestLength, "HMAC failed")
    return tag
  }

  /// Whether the tag is the whole, untruncated HMAC of the message; compared in constant time.
  public static func isValid(
    _ tag: some ContiguousBytes, of message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> Bool {
    constantTimeEqual(tag, authenticate(message, key: key, hash: hash))
  }

  /// The HMAC of the parts as one message; `output` must hold the hash's length.
  static func compute(
    _ parts: [UnsafeRawBufferPointer], key: UnsafeRawBufferPointer, hash: HashAlgorithm,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let template = MacTemplates.hmac[hash], let context = EVP_MAC_CTX_dup(template) else { return false }
    defer { EVP_MAC_CTX_free(context) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { zero in
      // OpenSSL takes no empty key. Keys are filled with zeros to the block's length, so one zero is the same key.
      zero.initialize(repeating: 0)
      let start = key.isEmpty ? UnsafePointer(zero.baseAddress) : key.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var length = 0
      return EVP_MAC_init(context, start, max(key.count, 1), nil) == 1
        && parts.allSatisfy {
          $0.isEmpty
            || EVP_MAC_update(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count) == 1
        }
        && EVP_MAC_final(
          context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length, hash.digestLength) == 1
    }
  }
}

/// One keyless HMAC context per hash, to be duplicated: that is half the cost of naming the hash anew each time.
///
/// Written once, never freed and never used but as the source of a duplicate, which reads it only; so threads may
/// share them.
private enum MacTemplates {
  nonisolated(unsafe) static let hmac: [HashAlgorithm: OpaquePointer] = {  // proof above
    var templates: [HashAlgorithm: OpaquePointer] = [:]
    guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { return [:] }
    for hash in HashAlgorithm.allCases {
      guard let context = EVP_MAC_CTX_new(mac), mdoc_mac_set_digest(context, hash.algorithm) == 1 else { continue }
      templates[hash] = context
    }
    return templates
  }()
}
