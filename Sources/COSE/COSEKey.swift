import CBOR
import Cryptography

/// A COSE_Key (RFC 9052, 7; RFC 9053, 7) that holds a public key.
public enum COSEKey {
  /// The public key, checked to be on its curve. Unknown members are ignored; a private part (label −4) is refused.
  public static func publicKey(from item: CBORItem) throws(COSEError) -> PublicKey {
    guard item.kind == .map, item[label: -4] == nil, let x = item[label: -2]?.bytes,
      let curve = item[label: -1]?.integer.flatMap(curve(identifier:))
    else { throw .invalidKey }
    do {
      switch (item[label: 1]?.integer, curve.family) {
      case (1, .edwards), (1, .montgomery):
        return try PublicKey(curve: curve, encoded: x)
      case (2, .weierstrass):
        let y = item[label: -3]
        if let y = y?.bytes { return try PublicKey(curve: curve, x: x, y: y) }
        if let isOdd = y?.bool { return try PublicKey(curve: curve, x: x, yIsOdd: isOdd) }
        throw COSEError.invalidKey
      default:
        throw COSEError.invalidKey
      }
    } catch {
      throw .invalidKey
    }
  }

  /// The key as it is written: `{1: kty, -1: crv, -2: x, -3: y}`.
  public static func encode(_ key: PublicKey) -> CBORValue {
    let curve = CBORValue.integer(identifier(of: key.curve))
    guard let (x, y) = key.coordinates else { return [1: 1, -1: curve, -2: .bytes(key.encoded)] }
    return [1: 2, -1: curve, -2: .bytes(Array(x)), -3: .bytes(Array(y))]
  }

  private static let identifiers: KeyValuePairs<Curve, Int64> = [
    .p256: 1, .p384: 2, .p521: 3, .x25519: 4, .x448: 5, .ed25519: 6, .ed448: 7, .brainpoolP256r1: 256,
    .brainpoolP320r1: 257, .brainpoolP384r1: 258, .brainpoolP512r1: 259,
  ]

  private static func curve(identifier: Int64) -> Curve? { identifiers.first { $0.value == identifier }?.key }

  private static func identifier(of curve: Curve) -> Int64 {
    // Every curve of the enumeration stands in the table above.
    identifiers.first { $0.key == curve }?.value ?? 0
  }
}
