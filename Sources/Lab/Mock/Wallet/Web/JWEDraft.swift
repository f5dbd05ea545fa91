import Base
import Cryptography

/// A compact JWE that is still to be made, by ECDH-ES in direct mode with AES-GCM (RFC 7516, 7.1; RFC 7518, 4.6), right
/// or wrong. The header is sent as it is here.
struct JWEDraft: Sendable {
  /// The answer's own seed.
  let seed: MockSeed
  /// The header's members, in order. A name may occur twice. The initialiser adds `epk` at the end.
  var header: [JSON.Member]
  var payload: [UInt8]
  var recipientKey: PublicKey
  var ephemeralKey: PrivateKey
  /// Sent in place of the header's bytes; nil for the right ones.
  var otherHeader: [UInt8]?

  /// - Parameter encryption: `A128GCM` or `A256GCM`.
  init(
    _ payload: [UInt8], to recipient: PublicKey, keyID: String?, encryption: String, agreementInfo: [JSON.Member],
    seed: MockSeed
  ) throws {
    self.seed = seed
    self.payload = payload
    recipientKey = recipient
    // Each message has a key of its own: two variants of one session must not share a GCM key and nonce.
    ephemeralKey = try seed.child("jwe", context: payload).key("ephemeral", on: .p256)
    header = [JSON.Member("alg", "ECDH-ES"), JSON.Member("enc", .string(encryption))]
    if let keyID { header.append(JSON.Member("kid", .string(keyID))) }
    header += agreementInfo
    self["epk"] = MockJWK.json(of: ephemeralKey.publicKey)
  }

  subscript(name: String) -> JSON? {
    get { header.first { $0.name == name }?.value }
    set { header.set(name, to: newValue) }
  }

  /// The five parts, each in base64url: header, encrypted key (empty), initialization vector, ciphertext, tag.
  func parts() throws -> [String] {
    let protected = Base64.encodeURLSafe(otherHeader ?? JSON.object(header).serialized())
    // Two headers with the same payload must not share a nonce either.
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

/// A P-256 key as JSON (RFC 7517), read and written here without the verifier's code.
struct MockJWK: Sendable {
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
  static func json(of key: PublicKey) -> JSON {
    let coordinates = key.coordinates.map { (Array($0.x), Array($0.y)) } ?? ([], [])
    return [
      "kty": "EC", "crv": .string(key.curve.rawValue), "x": .string(Base64.encodeURLSafe(coordinates.0)),
      "y": .string(Base64.encodeURLSafe(coordinates.1)),
    ]
  }

  /// The thumbprint (RFC 7638): SHA-256 over the required members in the order of their names.
  static func thumbprint(of key: PublicKey) -> [UInt8] {
    let json = json(of: key)
    let members = ["crv", "kty", "x", "y"].map { JSON.Member($0, json[$0] ?? .null) }
    return HashAlgorithm.sha256.hash(JSON.object(members).serialized())
  }
}
