import COpenSSL
import Cryptography

/// The cryptographic work that no verifier of an Apple response can avoid. It uses OpenSSL in the cheapest way: through
/// EVP, with imported keys, reused contexts and fetched algorithms, and without checking a point twice.
package final class PrimitiveFloor {
  private let signatures: Int
  private let digestedBytes: [Int]
  private let keys: [PrivateKey]
  private let verification, agreement, digest, cipher, sha256, aes: OpaquePointer
  private let derSignature: [UInt8]
  private let message = [UInt8](repeating: 0x5a, count: 32)
  private let key = [UInt8](repeating: 1, count: 16)
  private let nonce = [UInt8](repeating: 2, count: 12)
  private let input: [UInt8]
  private var ciphertext: [UInt8]
  private var tag: [UInt8]
  private var output: [UInt8]

  /// Prepares one ECDH, the given number of ECDSA verifications, SHA-256 digests of the given sizes, and the decryption
  /// of the given bytes with AES-128-GCM.
  init(signatures: Int, digestedBytes: [Int], ciphertextBytes: Int) throws {
    let keys = [try PrivateKey(generatingOn: .p256), try PrivateKey(generatingOn: .p256)]
    guard let verification = EVP_PKEY_CTX_new(keys[0].pkey, nil), EVP_PKEY_verify_init(verification) == 1,
      let agreement = EVP_PKEY_CTX_new(keys[0].pkey, nil), EVP_PKEY_derive_init(agreement) == 1,
      EVP_PKEY_derive_set_peer_ex(agreement, keys[1].publicKey.pkey, 0) == 1,
      let digest = EVP_MD_CTX_new(), let cipher = EVP_CIPHER_CTX_new(), let sha256 = EVP_MD_fetch(nil, "SHA256", nil),
      let aes = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil), let signing = EVP_PKEY_CTX_new(keys[0].pkey, nil)
    else { throw BenchError(reason: "OpenSSL has no context for a primitive") }
    defer { EVP_PKEY_CTX_free(signing) }
    var signature = [UInt8](repeating: 0, count: 80)
    var length = signature.count
    guard EVP_PKEY_sign_init(signing) == 1, EVP_PKEY_sign(signing, &signature, &length, message, message.count) == 1
    else { throw BenchError(reason: "OpenSSL has no context for a primitive") }
    (self.signatures, self.digestedBytes, self.keys) = (signatures, digestedBytes, keys)
    (self.verification, self.agreement, self.digest) = (verification, agreement, digest)
    (self.cipher, self.sha256, self.aes) = (cipher, sha256, aes)
    derSignature = Array(signature[..<length])
    input = [UInt8](repeating: 0xa5, count: digestedBytes.max() ?? 0)
    let sealed = try AESGCM.seal(
      [UInt8](repeating: 3, count: ciphertextBytes), key: SecretBytes(copying: key), nonce: nonce,
      additionalData: [UInt8]())
    ciphertext = Array(sealed.dropLast(AESGCM.tagLength))
    tag = Array(sealed.suffix(AESGCM.tagLength))
    output = [UInt8](repeating: 0, count: ciphertextBytes + 16)
  }

  deinit {
    EVP_PKEY_CTX_free(verification)
    EVP_PKEY_CTX_free(agreement)
    EVP_MD_CTX_free(digest)
    EVP_CIPHER_CTX_free(cipher)
    EVP_MD_free(sha256)
    EVP_CIPHER_free(aes)
  }

  /// Runs every prepared primitive once. Returns false if a primitive fails. The measurement is then worthless.
  package func run() -> Bool { verify() && agree() && hash() && open() }

  private func verify() -> Bool {
    (0..<signatures).allSatisfy { _ in
      EVP_PKEY_verify(verification, derSignature, derSignature.count, message, message.count) == 1
    }
  }

  private func agree() -> Bool {
    var length = 32
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { secret in
      EVP_PKEY_derive(agreement, secret.baseAddress, &length) == 1
    }
  }

  private func hash() -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { result in
      digestedBytes.allSatisfy { size in
        EVP_DigestInit_ex2(digest, sha256, nil) == 1 && EVP_DigestUpdate(digest, input, size) == 1
          && EVP_DigestFinal_ex(digest, result.baseAddress, nil) == 1
      }
    }
  }

  private func open() -> Bool {
    var length: Int32 = 0
    return EVP_DecryptInit_ex2(cipher, aes, key, nonce, nil) == 1
      && EVP_DecryptUpdate(cipher, &output, &length, ciphertext, Int32(ciphertext.count)) == 1
      && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
      && EVP_DecryptFinal_ex(cipher, &output, &length) == 1
  }
}
