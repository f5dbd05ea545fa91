/// Why a cryptographic operation could not be done. A signature or tag that does not verify is not an error but `false`.
public enum CryptoError: Error, Sendable, Hashable {
  /// The bytes are no public key on the curve: wrong length, not on the curve, or infinity.
  case invalidPublicKey
  case invalidPrivateKey
  /// The private key is encrypted, and no passphrase was given.
  case passphraseRequired
  /// The private key does not decrypt with the passphrase.
  case passphraseWrong
  /// The encrypted private key asks for more work than `Limits` allows before a passphrase can be tried.
  case passphraseTooCostly
  /// The key's type, or the algorithm for it, is not among those of this module.
  case unsupportedKey
  /// Keys of different curves, or an all-zero shared secret (RFC 7748, 6).
  case keyAgreementFailed
  /// A ciphertext that does not authenticate, or is shorter than its tag.
  case decryptionFailed
  /// A nonce, key or output length outside the algorithm's bounds.
  case invalidLength
  /// OpenSSL failed where only exhausted memory or a broken installation can make it.
  case libraryFailure
}
