import Base
import Cryptography

/// A public key as a JSON Web Key (RFC 7517; RFC 7518, 6.2; RFC 8037, 2), with its permitted use.
package struct JSONWebKey: Sendable {
  package let key: PublicKey
  package let keyID: String?
  /// `alg`: the key's only algorithm.
  package let algorithmName: String?
  /// `use`: `sig` or `enc`.
  package let use: String?
  /// `key_ops`.
  package let operations: [String]?

  /// Unknown members are ignored. A private part (`d`) is refused, since a private key that was sent is no longer
  /// secret.
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

  /// The key for ECDH-ES; nil if `alg`, `use` or `key_ops` is for another use.
  package var agreementKey: PublicKey? {
    let isForAgreement = (use ?? "enc") == "enc" && (algorithmName?.hasSameBytes(as: JWEHeader.algorithmName) ?? true)
    // A public key's operations should be empty: RFC 7517, 4.3 lists operations of private keys.
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

  /// `Curve` has the names of JOSE's registry, and of ISO/IEC TS 18013-7 for the brainpool curves.
  private static func curve(named name: String) -> Curve? {
    Curve.allCases.first { $0.rawValue.hasSameBytes(as: name) }
  }

  /// The members of a public key's value, in the alphabetical order of RFC 7638, 3.2 and 3.3.
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

  /// The public key without its use.
  static func json(of key: PublicKey) -> JSON { .object(requiredMembers(key)) }

  /// The JWK thumbprint with SHA-256 (RFC 7638; RFC 8037, appendix A.3).
  package static func thumbprint(of key: PublicKey) -> [UInt8] {
    HashAlgorithm.sha256.hash(json(of: key).serialized())
  }

  /// A public key for ECDH-ES, with its thumbprint as `kid`.
  package static func encryptionKey(_ key: PublicKey) -> JSON {
    .object(
      requiredMembers(key) + [
        JSON.Member("kid", .string(Base64.encodeURLSafe(thumbprint(of: key)))),
        JSON.Member("use", "enc"), JSON.Member("alg", .string(JWEHeader.algorithmName)),
      ])
  }
}
