import Base
import Cryptography

/// The parts of a compact JWE, encrypted by ECDH-ES in direct mode with AES-GCM (RFC 7516, 7.1; RFC 7518, 4.6).
struct JWEDraft: Sendable {
  /// The response's own seed.
  let seed: MockSeed
  /// The header's members, in order. Duplicate names are allowed. The initialiser adds `epk` at the end.
  var header: [JSON.Member]
  var payload: [UInt8]
  var recipientKey: PublicKey
  var ephemeralKey: PrivateKey
  /// Bytes that replace the header; nil to keep the correct header.
  var otherHeader: [UInt8]?

  /// - Parameter encryption: `A128GCM` or `A256GCM`.
  init(
    _ payload: [UInt8], to recipient: PublicKey, keyID: String?, encryption: String, agreementInfo: [JSON.Member],
    seed: MockSeed
  ) throws {
    self.seed = seed
    self.payload = payload
    recipientKey = recipient
    // Each message has its own key: two variants of one session must not share a GCM key and nonce.
    ephemeralKey = try seed.child("jwe", context: payload).key("ephemeral", on: .p256)
    header = [.init("alg", "ECDH-ES"), .init("enc", .string(encryption))]
    if let keyID { header.append(.init("kid", .string(keyID))) }
    header += agreementInfo + [.init("epk", MockJWK.json(of: ephemeralKey.publicKey))]
  }

  /// The five parts, each in base64url: header, encrypted key (empty), initialization vector, ciphertext, tag.
  func parts() throws -> [String] {
    let protected = Base64.encodeURLSafe(otherHeader ?? JSON.object(header).serialized())
    // Two messages with the same payload and different headers must not share a nonce either.
    let vector = try seed.child("jwe vector", context: Array(protected.utf8) + payload)
      .bytes("iv", count: AESGCM.nonceLength)
    let sealed = try AESGCM.seal(
      payload, key: SecretBytes(copying: try Self.contentKey(.object(header), ephemeralKey, recipientKey)),
      nonce: vector, additionalData: Array(protected.utf8))
    let length = sealed.count - AESGCM.tagLength
    return [
      protected, "", Base64.encodeURLSafe(vector), Base64.encodeURLSafe(sealed[..<length]),
      Base64.encodeURLSafe(sealed[length...]),
    ]
  }

  /// Concat KDF with SHA-256, one round (RFC 7518, 4.6.2; NIST SP 800-56A, 5.8.1).
  static func contentKey(_ header: JSON, _ key: PrivateKey, _ peer: PublicKey) throws -> [UInt8] {
    let algorithm = header["enc"]?.string ?? ""
    let length = algorithm == "A128GCM" ? 16 : 32
    func field(_ bytes: [UInt8]) -> [UInt8] { bigEndian(bytes.count) + bytes }
    func party(_ name: String) -> [UInt8] { header[name]?.string.flatMap(Base64.decodeURLSafe) ?? [] }
    let input =
      bigEndian(1) + (try key.sharedSecret(with: peer).exposed()) + field(Array(algorithm.utf8))
      + field(party("apu")) + field(party("apv")) + bigEndian(length * 8)
    return Array(HashAlgorithm.sha256.hash(input).prefix(length))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

/// A P-256 key as JSON (RFC 7517). It does not use the verifier's code.
package struct MockJWK: Sendable {
  let key: PublicKey
  let keyID: String?

  /// Nil for keys of other types and curves.
  init?(_ json: JSON) {
    guard json["kty"]?.string == "EC", json["crv"]?.string == "P-256", json["use"]?.string ?? "enc" == "enc",
      let x = json["x"]?.string.flatMap(Base64.decodeURLSafe), let y = json["y"]?.string.flatMap(Base64.decodeURLSafe),
      let key = try? PublicKey(curve: .p256, x: x, y: y)
    else { return nil }
    self.key = key
    keyID = json["kid"]?.string
  }

  /// `kty`, `crv`, `x`, `y` of a point on P-256 or P-384.
  package static func json(of key: PublicKey) -> JSON {
    let coordinates = key.coordinates.map { (Array($0.x), Array($0.y)) } ?? ([], [])
    return [
      "kty": "EC", "crv": .string(key.curve.rawValue), "x": .string(Base64.encodeURLSafe(coordinates.0)),
      "y": .string(Base64.encodeURLSafe(coordinates.1)),
    ]
  }

  /// The thumbprint (RFC 7638): SHA-256 over the required members in the order of their names.
  package static func thumbprint(of key: PublicKey) -> [UInt8] {
    let json = json(of: key)
    let members = ["crv", "kty", "x", "y"].map { JSON.Member($0, json[$0] ?? .null) }
    return HashAlgorithm.sha256.hash(JSON.object(members).serialized())
  }
}

/// The key of a wallet that accepts only encrypted request objects (OpenID4VP 1.0, 5.10).
package struct MockRequestKey: Sendable {
  package let key: PrivateKey

  package init(of authority: MockAuthority, on curve: Curve = .p256) throws {
    key = try authority.seed.key("request objects", on: curve)
  }

  /// `wallet_metadata`, as the wallet of the EUDI reference implementation sends it.
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

  /// Decrypts a signed request object.
  ///
  /// - Throws: `MockError.unreadableRequest` unless it is encrypted as the metadata require.
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
