import Base
import COSE
import Cryptography
import JOSE

/// `client_metadata` of a request (OpenID4VP 1.0, 5.1 and 11.1): the key to encrypt to, and what is verified here.
enum ClientMetadata {
  /// - Parameter encryptionKey: nil where the answer is to come in clear.
  static func json(encryptionKey: PublicKey?) -> JSON {
    let encryption = JWEHeader.ContentEncryption.allCases.map { JSON.string($0.rawValue) }
    return .members([
      "jwks": encryptionKey.map { ["keys": [JSONWebKey.encryptionKey($0)]] },
      "encrypted_response_enc_values_supported": encryptionKey.map { _ in .array(encryption) },
      "vp_formats_supported": ["mso_mdoc": formats(hasReaderKey: encryptionKey != nil)],
    ])
  }

  /// The algorithms of issuer and device (B.2.2). With an encryption key the device may make a MAC instead, keyed by
  /// agreement with it (ISO/IEC 18013-5:2021, 9.1.3.5).
  private static func formats(hasReaderKey: Bool) -> JSON {
    let signatures = SignatureAlgorithm.all.map { JSON.integer($0.identifier) }
    return [
      "issuerauth_alg_values": .array(signatures),
      "deviceauth_alg_values": .array(signatures + (hasReaderKey ? [.integer(macWithP256)] : [])),
    ]
  }

  /// HMAC 256/256 with a key agreed on P-256 (B.2.2).
  private static let macWithP256: Int64 = -65537
}
