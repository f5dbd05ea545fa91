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
    guard let context = Context(hash: hash) else { return false }
    return context.begin(key: key) && parts.allSatisfy { context.update($0) } && context.finish(into: output)
  }

  /// Computes one HMAC after another: a new key costs less than a new context. Its end wipes what is left of the keys.
  struct Context: ~Copyable {
    private let pointer: OpaquePointer
    let hash: HashAlgorithm

    init?(hash: HashAlgorithm) {
      guard let template = MacTemplates.template(for: hash), let pointer = EVP_MAC_CTX_dup(template) else { return nil }
      self.pointer = pointer
      self.hash = hash
    }

    deinit { EVP_MAC_CTX_free(pointer) }

    borrowing func begin(key: UnsafeRawBufferPointer) -> Bool {
      guard key.isEmpty else {
        return EVP_MAC_init(pointer, key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, nil) == 1
      }
      // OpenSSL takes no empty key. Keys are filled with zeros to the block's length, so one zero is the same key.
      var zero: UInt8 = 0
      return EVP_MAC_init(pointer, &zero, 1, nil) == 1
    }

    borrowing func update(_ part: UnsafeRawBufferPointer) -> Bool {
      part.isEmpty || EVP_MAC_update(pointer, part.baseAddress?.assumingMemoryBound(to: UInt8.self), part.count) == 1
    }

    /// `output` must hold the hash's length.
    borrowing func finish(into output: UnsafeMutableRawBufferPointer) -> Bool {
      var length = 0
      return output.count >= hash.digestLength
        && EVP_MAC_final(
          pointer, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length, hash.digestLength) == 1
    }
  }
}

/// One keyless HMAC context per hash, to be duplicated: that is half the cost of naming the hash anew each time.
///
/// Written once, never freed and never used but as the source of a duplicate, which reads it only; so threads may
/// share them.
private enum MacTemplates {
  nonisolated(unsafe) private static let all: [HashAlgorithm: OpaquePointer] = {  // proof above
    var templates: [HashAlgorithm: OpaquePointer] = [:]
    guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { return [:] }
    for hash in HashAlgorithm.allCases {
      guard let context = EVP_MAC_CTX_new(mac), mdoc_mac_set_digest(context, hash.algorithm) == 1 else { continue }
      templates[hash] = context
    }
    return templates
  }()
  // SHA-256 is on every path; its own constant saves the look-up.
  nonisolated(unsafe) private static let sha256 = all[.sha256]  // proof above

  static func template(for hash: HashAlgorithm) -> OpaquePointer? { hash == .sha256 ? sha256 : all[hash] }
}
