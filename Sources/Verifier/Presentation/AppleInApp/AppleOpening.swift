import Base
import Cryptography

/// What opens one Apple envelope and no other: the shared secret of its key encapsulation (RFC 9180, 4.1). Who keeps an
/// answer keeps this beside it, and never the merchant's key.
public final class AppleOpening: Sendable {
  let recipientKeyHash: [UInt8]
  let sharedSecret: SecretBytes

  private static let hashLength = 32

  /// Nil where none of the keys is the envelope's.
  public init?(of envelope: [UInt8], keys: [PrivateKey]) {
    var checks = CheckList(expecting: 8)
    guard let envelope = AppleEnvelope(parsing: envelope, checks: &checks),
      let key = keys.first(where: {
        $0.curve == .p256 && envelope.recipientKeyHash.elementsEqual(AppleInApp.recipientKeyHash($0.publicKey))
      }),
      let secret = try? HPKE.p256SHA256AES128GCM.sharedSecret(of: envelope.encapsulatedKey, recipient: key)
    else { return nil }
    recipientKeyHash = Array(envelope.recipientKeyHash)
    sharedSecret = secret
  }

  // MARK: Keeping

  /// Nil for what `serialized` did not give.
  public init?(serialized: borrowing SecretBytes) {
    guard serialized.count > Self.hashLength else { return nil }
    recipientKeyHash = serialized.withUnsafeBytes { Array($0.prefix(Self.hashLength)) }
    sharedSecret = serialized.withUnsafeBytes { SecretBytes(copying: $0[Self.hashLength...]) }
  }

  public var serialized: SecretBytes {
    SecretBytes(copying: recipientKeyHash + sharedSecret.exposed())
  }
}
