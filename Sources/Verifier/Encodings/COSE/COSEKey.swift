import CBOR
import Cryptography

/// A COSE_Key (RFC 9052, 7; RFC 9053, 7) that holds a public key.
package enum COSEKey {
  /// Why an item is no public key. The description follows a name: `the device key` …
  package enum Fault: Error, Sendable, Hashable {
    case notMap, privatePart, noType, noCurve, typeOfOtherCurve, missing(String)
    /// In bytes.
    case length(String, found: Int, expected: Int)
    case notOnCurve

    package var description: String {
      switch self {
      case .notMap: "is no map"
      case .privatePart: "carries a private part (label -4)"
      case .noType: "has no key type (label 1) that is OKP or EC2"
      case .noCurve: "names no curve (label -1) of the standard's"
      case .typeOfOtherCurve: "has a key type (label 1) that does not go with its curve (label -1)"
      case .missing(let coordinate): "has no \(coordinate) of the right type"
      case .length(let coordinate, let found, let expected):
        "has \(found) bytes of \(coordinate) where its curve has \(expected)"
      case .notOnCurve: "is not a point on its curve, or one of small order"
      }
    }
  }

  /// The public key, checked to be on its curve. Unknown members are ignored; a private part (label −4) is refused.
  package static func publicKey(from item: CBORItem) throws(COSEError) -> PublicKey {
    do {
      return try read(item)
    } catch {
      throw .invalidKey
    }
  }

  /// The public key; the error says why the item is none.
  package static func read(_ item: CBORItem) throws(Fault) -> PublicKey {
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

/// The signature algorithms of ISO/IEC 18013-5 (Table B.3 and 9.1.2.4), with their fully specified forms (RFC 9864).
///
/// An algorithm is bound to its curves: ES256 with a P-384 key is refused before any signature is checked.
package struct SignatureAlgorithm: Sendable, Hashable {
  /// The COSE algorithm identifier.
  package let identifier: Int64
  package let name: String
  /// Nil for EdDSA, which hashes by itself.
  package let hash: HashAlgorithm?
  package let curves: [Curve]

  package static let all: [SignatureAlgorithm] = [
    .init(identifier: -7, name: "ES256", hash: .sha256, curves: [.p256, .brainpoolP256r1]),
    .init(identifier: -35, name: "ES384", hash: .sha384, curves: [.p384, .brainpoolP320r1, .brainpoolP384r1]),
    .init(identifier: -36, name: "ES512", hash: .sha512, curves: [.p521, .brainpoolP512r1]),
    .init(identifier: -8, name: "EdDSA", hash: nil, curves: [.ed25519, .ed448]),
    .init(identifier: -9, name: "ESP256", hash: .sha256, curves: [.p256]),
    .init(identifier: -51, name: "ESP384", hash: .sha384, curves: [.p384]),
    .init(identifier: -52, name: "ESP512", hash: .sha512, curves: [.p521]),
    .init(identifier: -19, name: "Ed25519", hash: nil, curves: [.ed25519]),
    .init(identifier: -53, name: "Ed448", hash: nil, curves: [.ed448]),
    .init(identifier: -265, name: "ESB256", hash: .sha256, curves: [.brainpoolP256r1]),
    .init(identifier: -266, name: "ESB320", hash: .sha384, curves: [.brainpoolP320r1]),
    .init(identifier: -267, name: "ESB384", hash: .sha384, curves: [.brainpoolP384r1]),
    .init(identifier: -268, name: "ESB512", hash: .sha512, curves: [.brainpoolP512r1]),
  ]

  package init?(identifier: Int64) {
    guard let algorithm = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
    self = algorithm
  }

  /// The algorithm that we sign with: the one that every reader of ISO/IEC 18013-5:2021 knows comes first in the table.
  package static func preferred(for curve: Curve) -> SignatureAlgorithm? {
    all.first { $0.curves.contains(curve) }
  }

  private init(identifier: Int64, name: String, hash: HashAlgorithm?, curves: [Curve]) {
    self.identifier = identifier
    self.name = name
    self.hash = hash
    self.curves = curves
  }

  func verify(_ signature: ArraySlice<UInt8>, of message: [UInt8], key: PublicKey) -> Bool {
    if let hash { return key.verifyECDSA(signature, of: message, hash: hash) }
    return key.verifyEdDSA(signature, of: message)
  }

  func sign(_ message: [UInt8], key: PrivateKey) throws(CryptoError) -> [UInt8] {
    if let hash { return try key.signECDSA(message, hash: hash) }
    return try key.signEdDSA(message)
  }
}
