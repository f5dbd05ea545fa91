import Base
import Cryptography

/// Every field of a certificate revocation list to be made (RFC 5280, 5.1), right or wrong.
struct RevocationListTemplate: Sendable {
  struct Entry: Sendable {
    /// The content octets of the number.
    var serialNumber: [UInt8]
    var date: Timestamp
    var extensions: [CertificateExtension] = []
  }

  enum Signature: Sendable { case right, damaged, absent }

  /// The number that stands for the version; nil, and no version is written, as lists of version 1 have it.
  var version: UInt8? = 1
  var issuer: CertificateName
  /// The key that signs.
  var key: PrivateKey
  var thisUpdate: Timestamp
  var nextUpdate: Timestamp?
  var entries: [Entry] = []
  var extensions: [CertificateExtension]
  var signature = Signature.right
  /// What the signed part names; nil: the algorithm that it is signed with.
  var namedAlgorithm: CertificateAlgorithm?
  /// What follows the list.
  var trailer: [UInt8] = []

  /// A list by ISO/IEC 18013-5, B.10, made anew every day, for the longest time that it may stand.
  init(issuer: CertificateIssuer, at now: Timestamp) {
    self.issuer = issuer.name
    key = issuer.key
    thisUpdate = Timestamp(date: now.date)
    nextUpdate = thisUpdate + 90 * Seconds.day
    extensions = [
      .authorityKeyIdentifier(issuer.keyIdentifier), .cRLNumber(UInt64(clamping: thisUpdate.secondsSince1970)),
    ]
  }

  func der() throws -> [UInt8] {
    let algorithm = CertificateAlgorithm(curve: key.curve)
    let list = tbsCertList(algorithm: namedAlgorithm ?? algorithm)
    let value: [UInt8] =
      switch signature {
      case .right: try algorithm.sign(list, with: key)
      // Damage goes into what is signed, so that the signature's DER stays right.
      case .damaged: try algorithm.sign(list + [0], with: key)
      case .absent: []
      }
    return DER.sequence(list, algorithm.der, DER.bitString(value)) + trailer
  }

  private func tbsCertList(algorithm: CertificateAlgorithm) -> [UInt8] {
    DER.sequence(
      version.map { DER.integer([$0]) } ?? [],
      algorithm.der,
      issuer.der,
      DER.time(thisUpdate),
      nextUpdate.map(DER.time) ?? [],
      // Absent where nothing is revoked (RFC 5280, 5.1.2.6).
      entries.isEmpty ? [] : DER.sequence(of: entries.map(\.der)),
      extensions.isEmpty ? [] : DER.explicit(0, DER.sequence(of: extensions.map(\.der))))
  }
}

extension RevocationListTemplate.Entry {
  fileprivate var der: [UInt8] {
    DER.sequence(
      DER.integer(serialNumber), DER.time(date),
      extensions.isEmpty ? [] : DER.sequence(of: extensions.map(\.der)))
  }
}

extension CertificateExtension {
  static let deltaCRLIndicatorOID = "2.5.29.27"
  static let issuingDistributionPointOID = "2.5.29.28"

  static func cRLNumber(_ number: UInt64) -> CertificateExtension {
    CertificateExtension(
      oid: "2.5.29.20", isCritical: false,
      value: withUnsafeBytes(of: number.bigEndian) { DER.unsignedInteger(Array($0)) })
  }

  static func deltaCRLIndicator(base: UInt8) -> CertificateExtension {
    CertificateExtension(oid: deltaCRLIndicatorOID, isCritical: true, value: DER.integer([base]))
  }

  /// One field of IssuingDistributionPoint that is TRUE: 1 only user certificates, 2 only CA certificates, 4 indirect
  /// (RFC 5280, 5.2.5).
  static func issuingDistributionPoint(_ field: UInt8, isCritical: Bool = true) -> CertificateExtension {
    CertificateExtension(
      oid: issuingDistributionPointOID, isCritical: isCritical, value: DER.sequence(DER.implicit(field, [0xff])))
  }

  static func reasonCode(_ reason: UInt8) -> CertificateExtension {
    CertificateExtension(oid: "2.5.29.21", isCritical: false, value: DER.element(0x0a, [reason]))
  }

  static func certificateIssuer(_ name: CertificateName) -> CertificateExtension {
    CertificateExtension(
      oid: "2.5.29.29", isCritical: true, value: DER.sequence(DER.explicit(4, name.der)))
  }
}
