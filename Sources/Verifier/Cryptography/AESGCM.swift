import COpenSSL
import FoundationEssentials

/// AES-GCM (NIST SP 800-38D) with 96-bit nonces and whole 128-bit tags; AES-128 or AES-256 by the key's length.
public enum AESGCM {
  public static let nonceLength = 12
  public static let tagLength = 16
  // Threads may share them: they are set once, never freed, and immutable in OpenSSL.
  nonisolated(unsafe) private static let aes128 = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)  // proof above
  nonisolated(unsafe) private static let aes256 = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)  // proof above

  /// Ciphertext ‖ tag.
  public static func seal(
    _ plaintext: some ContiguousBytes, key: borrowing SecretBytes, nonce: some ContiguousBytes,
    additionalData: some ContiguousBytes
  ) throws(CryptoError) -> [UInt8] {
    let context = try Context(key: key, nonce: nonce, additionalData, isSealing: true)
    let sealed = plaintext.withUnsafeBytes { input in
      [UInt8](unsafeUninitializedCapacity: input.count + tagLength) { output, count in
        guard let start = output.baseAddress, context.update(input, to: start), context.finish(),
          EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), start + input.count) == 1
        else { return }
        count = input.count + tagLength
      }
    }
    guard sealed.count >= tagLength else { throw .libraryFailure }
    return sealed
  }

  /// Decrypts ciphertext ‖ tag, or throws `decryptionFailed`. Checks the tag before it returns anything.
  public static func open(
    _ sealed: some ContiguousBytes, key: borrowing SecretBytes, nonce: some ContiguousBytes,
    additionalData: some ContiguousBytes
  ) throws(CryptoError) -> [UInt8] {
    let context = try Context(key: key, nonce: nonce, additionalData, isSealing: false)
    let plaintext = sealed.withUnsafeBytes { input -> [UInt8]? in
      guard input.count >= tagLength else { return nil }
      let length = input.count - tagLength
      var isAuthentic = false
      let plaintext = [UInt8](unsafeUninitializedCapacity: length + 1) { output, count in
        isAuthentic = context.open(input, to: output.baseAddress)
        if isAuthentic { count = length } else { OPENSSL_cleanse(output.baseAddress, length) }
      }
      return isAuthentic ? plaintext : nil
    }
    guard let plaintext else {
      ERR_clear_error()
      throw .decryptionFailed
    }
    return plaintext
  }

  /// Decrypts a secret into memory that is wiped when freed.
  public static func openSecret(
    _ sealed: some ContiguousBytes, key: borrowing SecretBytes, nonce: some ContiguousBytes,
    additionalData: some ContiguousBytes
  ) throws(CryptoError) -> SecretBytes {
    let context = try Context(key: key, nonce: nonce, additionalData, isSealing: false)
    let length = sealed.withUnsafeBytes { $0.count } - tagLength
    guard length >= 0 else { throw .decryptionFailed }
    return try SecretBytes(count: length) { output throws(CryptoError) in
      guard sealed.withUnsafeBytes({ context.open($0, to: output.octets) }) else {
        ERR_clear_error()
        throw .decryptionFailed
      }
    }
  }

  /// One cipher operation.
  private struct Context: ~Copyable {
    let pointer: OpaquePointer

    init(
      key: borrowing SecretBytes, nonce: some ContiguousBytes, _ additionalData: some ContiguousBytes, isSealing: Bool
    ) throws(CryptoError) {
      let cipher: OpaquePointer?
      switch key.count {
      case 16: cipher = aes128
      case 32: cipher = aes256
      default: throw .invalidLength
      }
      guard let context = EVP_CIPHER_CTX_new() else { throw .libraryFailure }
      let isReady = key.withUnsafeBytes { key in
        nonce.withUnsafeBytes { nonce in
          nonce.count == nonceLength
            && EVP_CipherInit_ex2(context, cipher, key.octets, nonce.octets, isSealing ? 1 : 0, nil) == 1
        }
      }
      guard isReady, additionalData.withUnsafeBytes({ Self.update(context, $0, to: nil) }) else {
        EVP_CIPHER_CTX_free(context)
        throw .invalidLength
      }
      pointer = context
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    borrowing func update(_ input: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>) -> Bool {
      Self.update(pointer, input, to: output)
    }

    /// If `output` is nil, the input is additional data.
    private static func update(
      _ pointer: OpaquePointer, _ input: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>?
    ) -> Bool {
      guard let count = Int32(exactly: input.count) else { return false }
      var length: Int32 = 0
      return input.isEmpty
        || EVP_CipherUpdate(pointer, output, &length, input.octets, count) == 1 && length == count
    }

    /// Decrypts ciphertext ‖ tag. Use the output only if this function returns true.
    borrowing func open(_ sealed: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>?) -> Bool {
      let length = sealed.count - tagLength
      guard length >= 0, let source = sealed.baseAddress, let output else { return false }
      return update(UnsafeRawBufferPointer(rebasing: sealed[..<length]), to: output)
        && EVP_CIPHER_CTX_ctrl(
          pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), UnsafeMutableRawPointer(mutating: source + length)) == 1
        && finish()
    }

    /// Ends the operation. Writes no output. When opening, checks the tag.
    borrowing func finish() -> Bool {
      var length: Int32 = 0
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { rest in
        EVP_CipherFinal_ex(pointer, rest.baseAddress, &length) == 1
      }
    }
  }
}
