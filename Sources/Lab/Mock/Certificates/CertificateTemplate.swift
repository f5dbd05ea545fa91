import Base
import Cryptography

/// Every field of a certificate (RFC 5280, 4.1), with a correct or wrong value. `signed(by:)` makes the DER.
struct CertificateTemplate: Sendable {
  var issuer: CertificateName
  var notBefore: Timestamp
  var notAfter: Timestamp
  var subject: CertificateName
  /// DER of SubjectPublicKeyInfo.
  var publicKeyInfo: [UInt8]
  var extensions: [CertificateExtension]
  /// The content octets of the serial number; nil to derive them from the certificate.
  var serialNumber: [UInt8]?
  /// The signature algorithm; nil means the algorithm of the signing key's curve.
  var signatureAlgorithm: CertificateAlgorithm?
  /// The encoded version; 2 means version 3.
  var version: UInt8 = 2

  subscript(oid oid: String) -> CertificateExtension? {
    get { extensions.first { $0.oid == oid } }
    set { extensions.set(newValue) { $0.oid == oid } }
  }

  /// Sets the address of the revocation list.
  mutating func nameList(at address: String) {
    self[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(uri: address)
  }

  /// Changes the certified key.
  mutating func certify(_ info: SubjectPublicKeyInfo) {
    publicKeyInfo = info.der
    self[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier(info.keyIdentifier)
  }

  func signed(by key: PrivateKey, damagingSignature: Bool = false) throws -> [UInt8] {
    let algorithm = signatureAlgorithm ?? CertificateAlgorithm(curve: key.curve)
    let tbs = tbsCertificate(serialNumber: serialNumber(signedBy: key), algorithm: algorithm)
    // Damages the signed bytes instead of the signature, so that the signature remains correct DER.
    let signature = try algorithm.sign(damagingSignature ? tbs + [0] : tbs, with: key)
    return DER.sequence(tbs, algorithm.der, DER.bitString(signature))
  }

  /// The serial number's content octets if this key signs the certificate.
  func serialNumber(signedBy key: PrivateKey) -> [UInt8] {
    serialNumber ?? derivedSerialNumber(signatureAlgorithm ?? CertificateAlgorithm(curve: key.curve))
  }

  /// A positive 20-octet hash of the certificate. It is unique and unpredictable (ISO/IEC 18013-5, B.1: 63 random
  /// bits).
  private func derivedSerialNumber(_ algorithm: CertificateAlgorithm) -> [UInt8] {
    var number = Array(HashAlgorithm.sha256.hash(tbsCertificate(serialNumber: [], algorithm: algorithm)).prefix(20))
    number[0] = number[0] & 0x7f | 0x40
    return number
  }

  private func tbsCertificate(serialNumber: [UInt8], algorithm: CertificateAlgorithm) -> [UInt8] {
    DER.sequence(
      DER.explicit(0, DER.integer([version])),
      DER.integer(serialNumber),
      algorithm.der,
      issuer.der,
      DER.sequence(DER.time(notBefore), DER.time(notAfter)),
      subject.der,
      publicKeyInfo,
      DER.explicit(3, DER.sequence(of: extensions.map(\.der))))
  }
}

/// A distinguished name (RFC 5280, 4.1.2.4): attributes in their order, with DER values.
struct CertificateName: Sendable {
  var attributes: [(oid: String, value: [UInt8])]

  static let country = "2.5.4.6"
  static let stateOrProvince = "2.5.4.8"
  static let organization = "2.5.4.10"
  static let commonName = "2.5.4.3"
  static let uniqueIdentifier = "2.5.4.45"

  init(country: String?, state: String?, organization: String?, commonName: String) {
    attributes = []
    // countryName is a PrintableString in upper case (ISO/IEC 18013-5, B.1).
    if let country { attributes.append((Self.country, DER.printableString(country))) }
    if let state { attributes.append((Self.stateOrProvince, DER.utf8String(state))) }
    if let organization { attributes.append((Self.organization, DER.utf8String(organization))) }
    attributes.append((Self.commonName, DER.utf8String(commonName)))
  }

  /// Replaces the attribute, or removes it.
  mutating func set(_ oid: String, to value: [UInt8]?) { attributes.set(value.map { (oid, $0) }) { $0.oid == oid } }

  var der: [UInt8] {
    DER.sequence(of: attributes.map { DER.set(DER.sequence(DER.objectIdentifier($0.oid), $0.value)) })
  }
}

/// A signature algorithm by its object identifier (ISO/IEC 18013-5, B.1; RFC 5480, RFC 5639, RFC 8410).
struct CertificateAlgorithm: Sendable {
  var oid: String
  /// The hash algorithm; nil for EdDSA, which has a built-in hash.
  var hash: HashAlgorithm?

  static let ecdsaWithSHA1 = CertificateAlgorithm(oid: "1.2.840.10045.4.1", hash: .sha1)

  init(oid: String, hash: HashAlgorithm?) {
    self.oid = oid
    self.hash = hash
  }

  /// The algorithm for keys on this curve.
  init(curve: Curve) {
    switch CurveIdentifiers(curve).algorithm {
    case -7: self.init(oid: "1.2.840.10045.4.3.2", hash: .sha256)
    case -35: self.init(oid: "1.2.840.10045.4.3.3", hash: .sha384)
    case -36: self.init(oid: "1.2.840.10045.4.3.4", hash: .sha512)
    default: self.init(oid: [.ed448, .x448].contains(curve) ? "1.3.101.113" : "1.3.101.112", hash: nil)
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
struct SubjectPublicKeyInfo {
  static let ecPublicKeyOID = "1.2.840.10045.2.1"

  let algorithm: [UInt8]
  let key: [UInt8]

  var der: [UInt8] { DER.sequence(algorithm, DER.bitString(key)) }
  /// The key identifier of certificates for this key (RFC 5280, 4.2.1.2).
  var keyIdentifier: [UInt8] { HashAlgorithm.sha1.hash(key) }

  static func der(of key: PublicKey) -> [UInt8] { info(of: key).der }

  static func info(of key: PublicKey) -> SubjectPublicKeyInfo {
    let curve = DER.objectIdentifier(CurveIdentifiers(key.curve).oid)
    return key.curve.family == .weierstrass
      ? ec(parameters: curve, point: key.encoded) : .init(algorithm: DER.sequence(curve), key: key.encoded)
  }

  static func ec(parameters: [UInt8], point: [UInt8]) -> SubjectPublicKeyInfo {
    .init(algorithm: DER.sequence(DER.objectIdentifier(ecPublicKeyOID), parameters), key: point)
  }

  static func rsa(modulus: [UInt8]) -> SubjectPublicKeyInfo {
    .init(
      algorithm: DER.sequence(DER.objectIdentifier("1.2.840.113549.1.1.1"), DER.null),
      key: DER.sequence(DER.unsignedInteger(modulus), DER.unsignedInteger([0x01, 0x00, 0x01])))
  }
}
