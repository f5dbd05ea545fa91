import COpenSSL

/// An incremental SHA-256 that gives a digest at any time.
package struct RunningHash: ~Copyable {
  private let context: OpaquePointer
  private let copy: OpaquePointer

  package init() {
    guard let context = EVP_MD_CTX_new(), let copy = EVP_MD_CTX_new() else { preconditionFailure("no memory") }
    self.context = context
    self.copy = copy
    reset()
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_CTX_free(copy)
  }

  /// Discards all absorbed bytes and starts again.
  package func reset() {
    // Only exhausted memory can make this fail, since the algorithm is already fetched.
    precondition(EVP_DigestInit_ex(context, HashAlgorithm.sha256.algorithm, nil) == 1, "SHA-256 failed")
  }

  package func absorb(_ bytes: UnsafeRawBufferPointer) {
    precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "SHA-256 failed")
  }

  package func absorb(_ bytes: [UInt8]) { bytes.withUnsafeBytes { absorb($0) } }

  /// The digest of all absorbed bytes. More bytes can follow.
  package func digest() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      precondition(
        EVP_MD_CTX_copy_ex(copy, context) == 1 && EVP_DigestFinal_ex(copy, output.baseAddress, nil) == 1,
        "SHA-256 failed")
      count = 32
    }
  }
}

/// AES-256 encryption of single blocks (FIPS 197), for pseudorandom streams.
package struct AESBlocks: ~Copyable {
  private let context: OpaquePointer

  package init() {
    guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("no memory") }
    self.context = context
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// - Parameter key: 32 bytes.
  package func setKey(_ key: [UInt8]) {
    precondition(key.count == 32)
    precondition(
      EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), nil, key, nil) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1, "AES failed")
  }

  /// Encrypts whole blocks of 16 bytes.
  package func encrypt(_ blocks: [UInt8]) -> [UInt8] {
    precondition(blocks.count.isMultiple(of: 16))
    return [UInt8](unsafeUninitializedCapacity: blocks.count + 16) { output, count in
      var length: Int32 = 0
      precondition(
        EVP_EncryptUpdate(context, output.baseAddress, &length, blocks, Int32(blocks.count)) == 1, "AES failed")
      count = Int(length)
    }
  }
}
