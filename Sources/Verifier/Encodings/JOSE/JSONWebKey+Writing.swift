import Base
import Cryptography

extension JSONWebKey {
  /// The members of a public key that are its value, in the order of RFC 7638, 3.2 and 3.3: alphabetical.
  private static func requiredMembers(_ key: PublicKey) -> [JSON.Member] {
    let curve = JSON.Member("crv", .string(key.curve.rawValue))
    guard let (x, y) = key.coordinates else {
      return [curve, JSON.Member("kty", "OKP"), JSON.Member("x", .string(Base64.encodeURLSafe(key.encoded)))]
    }
    return [
      curve, JSON.Member("kty", "EC"), JSON.Member("x", .string(Base64.encodeURLSafe(x))),
      JSON.Member("y", .string(Base64.encodeURLSafe(y))),
    ]
  }

  /// The JWK thumbprint with SHA-256 (RFC 7638; RFC 8037, appendix A.3).
  package static func thumbprint(of key: PublicKey) -> [UInt8] {
    HashAlgorithm.sha256.hash(JSON.object(requiredMembers(key)).serialized())
  }

  /// A public key to be published for encryption to it by ECDH-ES, named by its thumbprint.
  package static func encryptionKey(_ key: PublicKey) -> JSON {
    .object(
      requiredMembers(key) + [
        JSON.Member("kid", .string(Base64.encodeURLSafe(thumbprint(of: key)))),
        JSON.Member("use", "enc"), JSON.Member("alg", .string(JWEHeader.algorithmName)),
      ])
  }
}
