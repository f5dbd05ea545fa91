import CBOR
import Cryptography

/// A COSE_Key (RFC 9052, 7; RFC 9053, 7) that holds a public key, with what it says about its use.
package struct COSEKey: Sendable {
  package let key: PublicKey
  /// `alg`: the one algorithm that the key is meant for.
  private let algorithm: CBORItem?
  /// `key_ops`. A name in text is no operation that is known here.
  private let operations: [Int64?]?

  /// Why an item is no public key. The description follows a name: `the device key` …
  package enum Fault: Error, Sendable, Hashable {
    case notMap, privatePart, noType, noCurve, typeOfOtherCurve, malformedUse, missing(String)
    /// A member of the wrong length, in bytes.
    case length(String, found: Int, expected: Int)
    case notOnCurve

    package var description: String {
      switch self {
      case .notMap: "is no map"
      case .privatePart: "carries a private part (label -4)"
      case .noType: "has no key type (label 1) that is OKP or EC2"
      case .noCurve: "names no curve (label -1) of the standard's"
      case .typeOfOtherCurve: "has a key type (label 1) that does not go with its curve (label -1)"
      case .malformedUse: "has alg (label 3) or key_ops (label 4) of another type than COSE's"
      case .missing(let coordinate): "has no \(coordinate) of the right type"
      case .length(let coordinate, let found, let expected):
        "has \(found) bytes of \(coordinate) where its curve has \(expected)"
      case .notOnCurve: "is not a point on its curve, or one of small order"
      }
    }
  }

  /// A public key, checked to be on its curve. Unknown members are ignored; a private part (label −4) is refused.
  ///
  /// - Throws: `Fault`, which says why the item is none.
  package init(_ item: CBORItem) throws(Fault) {
    key = try Self.publicKey(item)
    algorithm = item[label: 3]
    let list = item[label: 4]
    operations = list?.elements.map { $0.map(\.integer) }
    guard algorithm.map({ $0.integer != nil || $0.kind == .text }) ?? true, list == nil || operations != nil else {
      throw .malformedUse
    }
  }

  /// The public key of an item, to agree a secret with; nil if the item is no such key, or is for another use.
  package static func agreementKey(from item: CBORItem) -> PublicKey? {
    guard let key = try? COSEKey(item), key.objectionToAgreement == nil else { return nil }
    return key.key
  }

  /// Why the key may not verify signatures of this algorithm (RFC 9052, 7.1): another `alg`, or a `key_ops` without
  /// verify; nil if it may.
  package func objection(to signing: SignatureAlgorithm) -> String? {
    if let algorithm, algorithm.integer != signing.coseIdentifier {
      return "the key is for \(Self.name(of: algorithm)) (alg, label 3), and the signature says \(signing.name)"
    }
    let verify: Int64 = 2
    guard let operations, !operations.contains(verify) else { return nil }
    return "the key's key_ops (label 4) lacks verify"
  }

  /// Why no secret may be agreed with the key (RFC 9053, 6.3.1): an `alg` that is no direct agreement with HKDF-256, or
  /// a `key_ops` for other uses. A public key's should be empty; one that has derive key or derive bits is taken too.
  package var objectionToAgreement: String? {
    let (ephemeralStatic, staticStatic): (Int64, Int64) = (-25, -27)
    if let algorithm, algorithm.integer != ephemeralStatic, algorithm.integer != staticStatic {
      return "the key is for \(Self.name(of: algorithm)) (alg, label 3), not to agree a secret"
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

  private static func publicKey(_ item: CBORItem) throws(Fault) -> PublicKey {
    guard item.kind == .map else { throw .notMap }
    guard item[label: -4] == nil else { throw .privatePart }
    guard let type = item[label: 1]?.integer, type == 1 || type == 2 else { throw .noType }
    guard let curve = item[label: -1]?.integer.flatMap(curve(identifier:)) else { throw .noCurve }
    guard (type == 2) == (curve.family == .weierstrass) else { throw .typeOfOtherCurve }
    let x = try coordinate("x (label -2)", item[label: -2], of: curve)
    do throws(CryptoError) {
      guard type == 2 else { return try PublicKey(curve: curve, encoded: x) }
      if let isOdd = item[label: -3]?.bool { return try PublicKey(curve: curve, x: x, yIsOdd: isOdd) }
    } catch {
      throw .notOnCurve
    }
    let y = try coordinate("y (label -3)", item[label: -3], of: curve)
    do {
      return try PublicKey(curve: curve, x: x, y: y)
    } catch {
      throw .notOnCurve
    }
  }

  private static func coordinate(
    _ name: String, _ item: CBORItem?, of curve: Curve
  ) throws(Fault) -> ArraySlice<UInt8> {
    guard let bytes = item?.bytes else { throw .missing(name) }
    guard bytes.count == curve.coordinateLength else {
      throw .length(name, found: bytes.count, expected: curve.coordinateLength)
    }
    return bytes
  }

  /// The key as it is written: `{1: kty, -1: crv, -2: x, -3: y}`.
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
    // Every curve of the enumeration stands in the table above.
    identifiers.first { $0.key == curve }?.value ?? 0
  }
}
