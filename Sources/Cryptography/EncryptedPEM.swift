import COpenSSL
import FoundationEssentials

/// Reads private keys in PEM, with a passphrase where they are encrypted, and never asks anybody for one.
enum EncryptedPEM {
  /// What OpenSSL's callback gives, and whether it was called: only an encrypted key asks.
  private struct Request {
    let passphrase: UnsafeRawBufferPointer?
    var wasAsked = false
  }

  /// The key, whose reference is the caller's.
  static func read(
    _ pem: some ContiguousBytes, _ passphrase: UnsafeRawBufferPointer?
  ) throws(CryptoError) -> OpaquePointer {
    var request = Request(passphrase: passphrase)
    let key = pem.withUnsafeBytes { bytes -> OpaquePointer? in
      guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(bio) }
      return PEM_read_bio_PrivateKey(bio, nil, answer, &request)
    }
    defer { ERR_clear_error() }
    guard let key else {
      guard request.wasAsked else { throw .invalidPrivateKey }
      throw passphrase == nil ? .passphraseRequired : .passphraseWrong
    }
    guard isConsistent(key) else {
      EVP_PKEY_free(key)
      throw .invalidPrivateKey
    }
    return key
  }

  private typealias Answer =
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

  /// Gives the passphrase, or nothing, so that nothing ever prompts. OpenSSL wipes its buffer.
  private static let answer: Answer = { buffer, size, _, context in
    guard let request = context?.assumingMemoryBound(to: Request.self), let buffer else { return -1 }
    request.pointee.wasAsked = true
    guard let passphrase = request.pointee.passphrase, (1...Int(size)).contains(passphrase.count) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyMemory(from: passphrase)
    return Int32(passphrase.count)
  }
}
