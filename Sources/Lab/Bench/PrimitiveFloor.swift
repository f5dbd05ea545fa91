import COpenSSL
import Cryptography

/// The cryptographic work that no verifier of an Apple answer can avoid, done in OpenSSL's cheapest way: through EVP,
/// with imported keys, reused contexts and fetched algorithms, and without checking a point twice.
///
/// Only `mdoc bench` uses it, to measure what the verifier costs beyond it.
package final class PrimitiveFloor {
  /// The work of one run.
  package struct Work: Sendable {
    /// P-256 ECDSA verifications.
    package var signatures: Int
    /// Sizes of the byte strings that are hashed with SHA-256.
    package var digestedBytes: [Int]
    /// Bytes that are opened with AES-128-GCM.
    package var ciphertextBytes: Int

    package init(signatures: Int, digestedBytes: [Int], ciphertextBytes: Int) {
      self.signatures = signatures
      self.digestedBytes = digestedBytes
      self.ciphertextBytes = ciphertextBytes
    }
  }

  package struct SetUpFailed: Error {}

  private let work: Work
  private let keys: [PrivateKey]
  private let verification: OpaquePointer
  private let agreement: OpaquePointer
  private let digest: OpaquePointer
  private let cipher: OpaquePointer
  private let sha256: OpaquePointer
  private let aes: OpaquePointer
  private let derSignature: [UInt8]
  private let message = [UInt8](repeating: 0x5a, count: 32)
  private let key = [UInt8](repeating: 1, count: 16)
  private let nonce = [UInt8](repeating: 2, count: 12)
  private let input: [UInt8]
  private var ciphertext: [UInt8]
  private var tag: [UInt8]
  private var output: [UInt8]

  package init(_ work: Work) throws {
    let keys = [try PrivateKey(generatingOn: .p256), try PrivateKey(generatingOn: .p256)]
    guard let verification = EVP_PKEY_CTX_new(keys[0].pkey, nil), EVP_PKEY_verify_init(verification) == 1,
      let agreement = EVP_PKEY_CTX_new(keys[0].pkey, nil), EVP_PKEY_derive_init(agreement) == 1,
      EVP_PKEY_derive_set_peer_ex(agreement, keys[1].publicKey.pkey, 0) == 1,
      let digest = EVP_MD_CTX_new(), let cipher = EVP_CIPHER_CTX_new(), let sha256 = EVP_MD_fetch(nil, "SHA256", nil),
      let aes = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil), let signing = EVP_PKEY_CTX_new(keys[0].pkey, nil)
    else { throw SetUpFailed() }
    defer { EVP_PKEY_CTX_free(signing) }
    var signature = [UInt8](repeating: 0, count: 80)
    var length = signature.count
    guard EVP_PKEY_sign_init(signing) == 1, EVP_PKEY_sign(signing, &signature, &length, message, message.count) == 1
    else { throw SetUpFailed() }
    self.work = work
    self.keys = keys
    self.verification = verification
    self.agreement = agreement
    self.digest = digest
    self.cipher = cipher
    self.sha256 = sha256
    self.aes = aes
    derSignature = Array(signature[..<length])
    input = [UInt8](repeating: 0xa5, count: work.digestedBytes.max() ?? 0)
    let sealed = try AESGCM.seal(
      [UInt8](repeating: 3, count: work.ciphertextBytes), key: SecretBytes(copying: key), nonce: nonce,
      additionalData: [UInt8]())
    ciphertext = Array(sealed.dropLast(AESGCM.tagLength))
    tag = Array(sealed.suffix(AESGCM.tagLength))
    output = [UInt8](repeating: 0, count: work.ciphertextBytes + 16)
  }

  deinit {
    EVP_PKEY_CTX_free(verification)
    EVP_PKEY_CTX_free(agreement)
    EVP_MD_CTX_free(digest)
    EVP_CIPHER_CTX_free(cipher)
    EVP_MD_free(sha256)
    EVP_CIPHER_free(aes)
  }

  /// Does all the work once. Returns false if a primitive failed, which would make the figure worthless.
  package func run() -> Bool {
    verify() && agree() && hash() && open()
  }

  package func verify() -> Bool {
    for _ in 0..<work.signatures {
      guard EVP_PKEY_verify(verification, derSignature, derSignature.count, message, message.count) == 1 else {
        return false
      }
    }
    return true
  }

  package func agree() -> Bool {
    var length = 32
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { secret in
      EVP_PKEY_derive(agreement, secret.baseAddress, &length) == 1
    }
  }

  package func hash() -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { result in
      work.digestedBytes.allSatisfy { size in
        EVP_DigestInit_ex2(digest, sha256, nil) == 1 && EVP_DigestUpdate(digest, input, size) == 1
          && EVP_DigestFinal_ex(digest, result.baseAddress, nil) == 1
      }
    }
  }

  package func open() -> Bool {
    var length: Int32 = 0
    return EVP_DecryptInit_ex2(cipher, aes, key, nonce, nil) == 1
      && EVP_DecryptUpdate(cipher, &output, &length, ciphertext, Int32(ciphertext.count)) == 1
      && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
      && EVP_DecryptFinal_ex(cipher, &output, &length) == 1
  }
}
