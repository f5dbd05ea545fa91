import Base
import Cryptography

extension CompactJWE {
  /// Encrypts by ECDH-ES in direct mode, with an ephemeral key of this one message (RFC 7516, 5.1; RFC 7518, 4.6).
  ///
  /// - Parameter parameters: further parameters of the protected header.
  /// - Returns: the compact serialization (RFC 7516, 7.1).
  /// - Throws: `CryptoError` if the key's curve is not for key agreement.
  package static func encrypt(
    _ plaintext: [UInt8], to recipient: PublicKey, by encryption: JWEHeader.ContentEncryption,
    parameters: [JSON.Member] = []
  ) throws(CryptoError) -> String {
    let ephemeral = try PrivateKey(generatingOn: recipient.curve)
    let header: [JSON.Member] = [
      .init("alg", .string(JWEHeader.algorithmName)), .init("enc", .string(encryption.rawValue)),
      .init("epk", JSONWebKey.json(of: ephemeral.publicKey)),
    ]
    let protected = Base64.encodeURLSafe(JSON.object(header + parameters).serialized())
    let key = try ConcatKDF.deriveKey(
      from: try ephemeral.sharedSecret(with: recipient), info: otherInfo(encryption), length: encryption.keyLength)
    let vector = try Random.bytes(AESGCM.nonceLength)
    let sealed = try AESGCM.seal(plaintext, key: key, nonce: vector, additionalData: Array(protected.utf8))
    let length = sealed.count - AESGCM.tagLength
    // Agreed directly, so there is no encrypted key.
    return [
      protected, "", Base64.encodeURLSafe(vector), Base64.encodeURLSafe(sealed[..<length]),
      Base64.encodeURLSafe(sealed[length...]),
    ].joined(separator: ".")
  }
}
