import Base

/// The private half of a key that is held elsewhere, such as in a PKCS #11 token. It never leaves its holder.
///
/// Each call may block, and is bounded in time. `PrivateKey` uses a `HeldKey` instead of OpenSSL.
public protocol HeldKey: Sendable {
  var publicKey: PublicKey { get }
  /// The holder's name, for metrics and the log.
  var holder: String { get }

  /// A raw ECDSA signature r‖s of fixed width (RFC 9053, 2.1).
  /// - Throws: `keyUnavailable`.
  func signature(ofDigest digest: [UInt8]) throws(CryptoError) -> [UInt8]

  /// The x-coordinate of the ECDH point (SEC 1, 3.3.1). `PublicKey` has already checked the peer's point.
  /// - Throws: `keyUnavailable`.
  func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes

  /// Checks that the holder is available, without using the key.
  /// - Throws: `keyUnavailable`.
  func check() throws(CryptoError)

  /// Runs work that uses the key, on a thread that may block. Returns false if the work does not end in time. The
  /// caller then ignores its result.
  func run(_ work: @escaping @Sendable () -> Void) async -> Bool
}

extension HeldKey {
  /// Runs work with `run` and returns its result; nil if the work does not end in time.
  package func result<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value? {
    let result = Locked<Value?>(nil)
    let hasEnded = await run {
      let value = work()
      result.withLock { $0 = value }
    }
    return hasEnded ? result.withLock { $0 } : nil
  }
}
