import Cryptography

/// The object identifiers of the standard's keys and signatures (ISO/IEC 18013-5, B.1; RFC 5480, RFC 5639, RFC 8410).
struct SignatureAlgorithm: Sendable {
  var oid: String
  /// Nil for EdDSA, which hashes by itself.
  var hash: HashAlgorithm?

  static let ecdsaWithSHA1 = SignatureAlgorithm(oid: "1.2.840.10045.4.1", hash: .sha1)

  init(oid: String, hash: HashAlgorithm?) {
    self.oid = oid
    self.hash = hash
  }

  /// The algorithm that goes with a curve.
  init(curve: Curve) {
    switch curve {
    case .ed25519, .x25519: self.init(oid: "1.3.101.112", hash: nil)
    case .ed448, .x448: self.init(oid: "1.3.101.113", hash: nil)
    case .p256, .brainpoolP256r1: self.init(oid: "1.2.840.10045.4.3.2", hash: .sha256)
    case .p384, .brainpoolP320r1, .brainpoolP384r1: self.init(oid: "1.2.840.10045.4.3.3", hash: .sha384)
    case .p521, .brainpoolP512r1: self.init(oid: "1.2.840.10045.4.3.4", hash: .sha512)
    }
  }

  var der: [UInt8] { DER.sequence(DER.objectIdentifier(oid)) }

  /// The content of signatureValue: DER `SEQUENCE { r, s }` for ECDSA, the raw signature for EdDSA.
  func sign(_ message: [UInt8], with key: PrivateKey) throws -> [UInt8] {
    guard let hash else { return try key.signEdDSA(message) }
    return ecdsaSignatureDER(try key.signDeterministically(message, hash: hash))
  }
}

/// r‖s as DER `SEQUENCE { r INTEGER, s INTEGER }`.
func ecdsaSignatureDER(_ raw: [UInt8]) -> [UInt8] {
  let half = raw.count / 2
  return DER.sequence(DER.unsignedInteger(raw[..<half]), DER.unsignedInteger(raw[half...]))
}

/// SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
enum SubjectPublicKeyInfo {
  static let ecPublicKeyOID = "1.2.840.10045.2.1"

  static func der(of key: PublicKey) -> [UInt8] {
    switch key.curve.family {
    case .weierstrass: ec(parameters: DER.objectIdentifier(curveOID(key.curve)), point: key.encoded)
    case .edwards, .montgomery:
      DER.sequence(DER.sequence(DER.objectIdentifier(curveOID(key.curve))), DER.bitString(key.encoded))
    }
  }

  static func ec(parameters: [UInt8], point: [UInt8]) -> [UInt8] {
    DER.sequence(DER.sequence(DER.objectIdentifier(ecPublicKeyOID), parameters), DER.bitString(point))
  }

  static func rsa(modulus: [UInt8]) -> [UInt8] {
    let key = DER.sequence(DER.unsignedInteger(modulus), DER.unsignedInteger([0x01, 0x00, 0x01]))
    return DER.sequence(
      DER.sequence(DER.objectIdentifier("1.2.840.113549.1.1.1"), DER.null), DER.bitString(key))
  }

  private static func curveOID(_ curve: Curve) -> String {
    switch curve {
    case .p256: "1.2.840.10045.3.1.7"
    case .p384: "1.3.132.0.34"
    case .p521: "1.3.132.0.35"
    case .brainpoolP256r1: "1.3.36.3.3.2.8.1.1.7"
    case .brainpoolP320r1: "1.3.36.3.3.2.8.1.1.9"
    case .brainpoolP384r1: "1.3.36.3.3.2.8.1.1.11"
    case .brainpoolP512r1: "1.3.36.3.3.2.8.1.1.13"
    case .ed25519: "1.3.101.112"
    case .ed448: "1.3.101.113"
    case .x25519: "1.3.101.110"
    case .x448: "1.3.101.111"
    }
  }
}
