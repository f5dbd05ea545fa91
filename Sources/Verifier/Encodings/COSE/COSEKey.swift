import CBOR
import Cryptography

/// A COSE_Key (RFC 9052, 7; RFC 9053, 7) with a public key and its stated use.
package struct COSEKey: Sendable {
  package let key: PublicKey
  /// `alg`: the only algorithm for which the key may be used.
  private let algorithm: CBORItem?
  /// `key_ops`. An operation given as text is unknown (nil).
  private let operations: [Int64?]?

  /// A public key, checked to be on its curve. Ignores unknown members, and refuses a private part (label −4).
  package init(_ item: CBORItem) throws(COSEKeyError) {
    key = try Self.publicKey(item)
    algorithm = item[label: 3]
    let list = item[label: 4]
    operations = list?.elements.map { $0.map(\.integer) }
    guard algorithm.map({ $0.integer != nil || $0.kind == .text }) ?? true, list == nil || operations != nil else {
      throw .malformedUse
    }
  }

  /// The public key of an item, for key agreement; nil if the item is not a public key, or the key is for another use.
  package static func agreementKey(from item: CBORItem) -> PublicKey? {
    guard let key = try? COSEKey(item), key.objectionToAgreement == nil else { return nil }
    return key.key
  }

  /// The reason why the key may not verify signatures of this algorithm (RFC 9052, 7.1): another `alg`, or `key_ops`
  /// without verify.
  package func objection(to signing: SignatureAlgorithm) -> String? {
    if let algorithm, algorithm.integer != signing.coseIdentifier {
      return "the key is for \(Self.name(of: algorithm)) (alg, label 3), but the signature says \(signing.name)"
    }
    let verify: Int64 = 2
    guard let operations, !operations.contains(verify) else { return nil }
    return "the key's key_ops (label 4) lacks verify"
  }

  /// The reason why the key may not agree on a secret (RFC 9053, 6.3.1): its `alg` is not direct agreement with
  /// HKDF-256, or its `key_ops` are for other uses. A public key's `key_ops` should be empty. Derive key and derive
  /// bits are accepted too.
  package var objectionToAgreement: String? {
    let (ephemeralStatic, staticStatic): (Int64, Int64) = (-25, -27)
    if let algorithm, algorithm.integer != ephemeralStatic, algorithm.integer != staticStatic {
      return "the key is for \(Self.name(of: algorithm)) (alg, label 3), not for key agreement"
    }
    let (deriveKey, deriveBits): (Int64, Int64) = (7, 8)
    guard let operations, !operations.isEmpty, !operations.contains(deriveKey), !operations.contains(deriveBits) else {
      return nil
    }
    return "the key's key_ops (label 4) lacks derive key and derive bits"
  }

  private static func name(of algorithm: CBORItem) -> String {
    guard let identifier = algorithm.integer else { return "an algorithm in text" }
    return SignatureAlgorithm(coseIdentifier: identifier)?.name ?? "algorithm \(identifier)"
  }

  private static func publicKey(_ item: CBORItem) throws(COSEKeyError) -> PublicKey {
    guard item.kind == .map else { throw .notMap }
    guard item[label: -4] == nil else { throw .privatePart }
    guard let type = item[label: 1]?.integer, type == 1 || type == 2 else { throw .noType }
    guard let curve = item[label: -1]?.integer.flatMap(curve(identifier:)) else { throw .noCurve }
    guard (type == 2) == (curve.family == .weierstrass) else { throw .typeOfOtherCurve }
    let x = try coordinate("x (label -2)", item[label: -2], of: curve)
    let isOdd = item[label: -3]?.bool
    let y = type == 2 && isOdd == nil ? try coordinate("y (label -3)", item[label: -3], of: curve) : nil
    do throws(CryptoError) {
      if let y { return try PublicKey(curve: curve, x: x, y: y) }
      guard type == 2, let isOdd else { return try PublicKey(curve: curve, encoded: x) }
      return try PublicKey(curve: curve, x: x, yIsOdd: isOdd)
    } catch {
      throw .notOnCurve
    }
  }

  private static func coordinate(
    _ name: String, _ item: CBORItem?, of curve: Curve
  ) throws(COSEKeyError) -> ArraySlice<UInt8> {
    guard let bytes = item?.bytes else { throw .missing(name) }
    guard bytes.count == curve.coordinateLength else {
      throw .length(name, found: bytes.count, expected: curve.coordinateLength)
    }
    return bytes
  }

  /// `{1: kty, -1: crv, -2: x, -3: y}`.
  package static func encode(_ key: PublicKey) -> CBORValue {
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
    // Every curve is in the table above.
    identifiers.first { $0.key == curve }?.value ?? 0
  }
}

/// The reason why an item is not a public key. The description follows a name: `the device key` …
package enum COSEKeyError: Error, Sendable, Hashable {
  case notMap, privatePart, noType, noCurve, typeOfOtherCurve, malformedUse, missing(String)
  /// A member of the wrong length, in bytes.
  case length(String, found: Int, expected: Int)
  case notOnCurve

  package var description: String {
    switch self {
    case .notMap: "is not a map"
    case .privatePart: "contains a private part (label -4)"
    case .noType: "has no key type (label 1) OKP or EC2"
    case .noCurve: "has no curve (label -1) of the standard"
    case .typeOfOtherCurve: "has a key type (label 1) that does not fit its curve (label -1)"
    case .malformedUse: "has an alg (label 3) or key_ops (label 4) of a wrong type"
    case .missing(let coordinate): "has no \(coordinate) of the right type"
    case .length(let coordinate, let found, let expected):
      "has \(found) bytes of \(coordinate), but its curve needs \(expected)"
    case .notOnCurve: "is not a point on its curve, or has small order"
    }
  }
}
