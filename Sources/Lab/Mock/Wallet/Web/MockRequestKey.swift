import Base
import Cryptography

/// A wallet's key for request objects: it takes them encrypted, and no others (OpenID4VP 1.0, 5.10).
package struct MockRequestKey: Sendable {
  package let key: PrivateKey

  package init(of authority: MockAuthority, on curve: Curve = .p256) throws {
    key = try authority.seed.key("request objects", on: curve)
  }

  /// `wallet_metadata`, as a wallet of the EUDI reference implementation sends it.
  package var metadata: JSON {
    let jwk = MockJWK.json(of: key.publicKey).object ?? []
    return [
      "jwks": ["keys": [.object(jwk + [.init("use", "enc"), .init("kid", "wallet key")])]],
      "request_object_signing_alg_values_supported": ["ES256"],
      "request_object_encryption_alg_values_supported": ["ECDH-ES+A256KW", "ECDH-ES"],
      "request_object_encryption_enc_values_supported": ["A128CBC-HS256", "A256GCM"],
      "vp_formats_supported": ["mso_mdoc": ["issuerauth_alg_values": [-7], "deviceauth_alg_values": [-7]]],
      "client_id_prefixes_supported": ["x509_san_dns", "x509_hash"], "response_types_supported": ["vp_token"],
      "response_modes_supported": ["direct_post", "direct_post.jwt"],
    ]
  }

  /// The signed request object inside.
  ///
  /// - Throws: `MockError.unreadableRequest` if it is not encrypted to this key as the metadata say.
  package func open(_ object: [UInt8]) throws -> [UInt8] {
    let parts = String(decoding: object, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { Base64.decodeURLSafe(String($0)) }
    guard parts.count == 5, bytes.count == 5, bytes[1].isEmpty, let header = try? JSON(parsing: bytes[0]),
      header["alg"] == "ECDH-ES", header["enc"] == "A256GCM", header["cty"] == "JWT", header["kid"] == "wallet key",
      let x = header["epk"]?["x"]?.string.flatMap(Base64.decodeURLSafe),
      let y = header["epk"]?["y"]?.string.flatMap(Base64.decodeURLSafe)
    else { throw MockError.unreadableRequest("the request object is not encrypted as the wallet requires") }
    let ephemeral = try PublicKey(curve: key.curve, x: x, y: y)
    return try AESGCM.open(
      bytes[3] + bytes[4], key: SecretBytes(copying: try JWEDraft.contentKey(header, key, ephemeral)),
      nonce: bytes[2], additionalData: Array(parts[0].utf8))
  }
}
