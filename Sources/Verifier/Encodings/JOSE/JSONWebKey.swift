import Base
import Cryptography

/// A public key as a JSON Web Key (RFC 7517; RFC 7518, 6.2; RFC 8037, 2), with what it says about its use.
package struct JSONWebKey: Sendable {
  package let key: PublicKey
  package let keyID: String?
  /// `alg`: the one algorithm that the key is meant for.
  package let algorithmName: String?
  /// `use`: `sig` or `enc`.
  package let use: String?
  /// `key_ops`.
  package let operations: [String]?

  /// Unknown members are ignored. A private part (`d`) is refused: a key that was sent is no longer secret.
  package init(parsing json: JSON) throws(JOSEError) {
    guard json.object != nil, json["d"] == nil else { throw .invalidKey }
    key = try Self.publicKey(json)
    keyID = try Self.text(json["kid"])
    algorithmName = try Self.text(json["alg"])
    use = try Self.text(json["use"])
    guard let list = json["key_ops"] else {
      operations = nil
      return
    }
    guard let names = list.array?.compactMap(\.string), names.count == list.array?.count,
      Set(names).count == names.count
    else { throw .invalidKey }
    operations = names
  }

  /// Whether the key may verify signatures of this algorithm: curve, `alg`, `use` and `key_ops` agree.
  package func mayVerify(_ algorithm: SignatureAlgorithm) -> Bool {
    algorithm.joseCurves.contains(key.curve) && (algorithmName?.hasSameBytes(as: algorithm.name) ?? true)
      && (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
  }

  /// The key, to agree a secret with by ECDH-ES; nil if `alg`, `use` or `key_ops` is for something else.
  package var agreementKey: PublicKey? {
    let isForAgreement = (use ?? "enc") == "enc" && (algorithmName?.hasSameBytes(as: JWEHeader.algorithmName) ?? true)
    // A public key's operations should be empty (RFC 7517, 4.3 lists those of private keys).
    let isAllowed = operations.map { $0.isEmpty || $0.contains("deriveKey") || $0.contains("deriveBits") } ?? true
    return isForAgreement && isAllowed ? key : nil
  }

  private static func publicKey(_ json: JSON) throws(JOSEError) -> PublicKey {
    guard let curve = json["crv"]?.string.flatMap(curve(named:)), let x = coordinate(json["x"]) else {
      throw .invalidKey
    }
    do {
      switch (json["kty"]?.string, curve.family) {
      case ("EC", .weierstrass):
        guard let y = coordinate(json["y"]) else { throw JOSEError.invalidKey }
        return try PublicKey(curve: curve, x: x, y: y)
      case ("OKP", .edwards), ("OKP", .montgomery): return try PublicKey(curve: curve, encoded: x)
      default: throw JOSEError.invalidKey
      }
    } catch {
      throw .invalidKey
    }
  }

  private static func coordinate(_ json: JSON?) -> [UInt8]? { json?.string.flatMap(Base64.decodeURLSafe) }

  private static func text(_ json: JSON?) throws(JOSEError) -> String? {
    guard let json else { return nil }
    guard let text = json.string else { throw .invalidKey }
    return text
  }

  /// The names of JOSE's registry; the brainpool curves have theirs from ISO/IEC TS 18013-7.
  private static let curves: KeyValuePairs<String, Curve> = [
    "P-256": .p256, "P-384": .p384, "P-521": .p521, "Ed25519": .ed25519, "Ed448": .ed448, "X25519": .x25519,
    "X448": .x448, "brainpoolP256r1": .brainpoolP256r1, "brainpoolP320r1": .brainpoolP320r1,
    "brainpoolP384r1": .brainpoolP384r1, "brainpoolP512r1": .brainpoolP512r1,
  ]

  private static func curve(named name: String) -> Curve? { curves.first { $0.key.hasSameBytes(as: name) }?.value }
}

extension JSONWebKey {
  /// The members that make up a public key's value, in the alphabetical order of RFC 7638, 3.2 and 3.3.
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

  /// The public key with the members of its value only.
  static func json(of key: PublicKey) -> JSON { .object(requiredMembers(key)) }

  /// The JWK thumbprint with SHA-256 (RFC 7638; RFC 8037, appendix A.3).
  package static func thumbprint(of key: PublicKey) -> [UInt8] {
    HashAlgorithm.sha256.hash(json(of: key).serialized())
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
