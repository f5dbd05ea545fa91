import Base
import Cryptography

/// A P-256 key as JSON (RFC 7517), read and written here apart from the verifier.
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

  /// RFC 7638: SHA-256 over the required members in the order of their names.
  static func thumbprint(of key: PublicKey) -> [UInt8] {
    let json = json(of: key)
    let members = ["crv", "kty", "x", "y"].map { JSON.Member($0, json[$0] ?? .null) }
    return HashAlgorithm.sha256.hash(JSON.object(members).serialized())
  }
}
