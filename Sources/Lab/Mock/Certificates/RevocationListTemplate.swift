import Base
import Cryptography

/// Every field of a certificate revocation list that is still to be made (RFC 5280, 5.1), right or wrong.
struct RevocationListTemplate: Sendable {
  struct Entry: Sendable {
    /// The content octets of the revoked certificate's number.
    var serialNumber: [UInt8]
    var date: Timestamp
    var extensions: [CertificateExtension] = []
  }

  enum Signature: Sendable { case right, damaged, absent }

  /// The encoded version: 1 stands for version 2. Nil writes no version, as in a list of version 1.
  var version: UInt8? = 1
  var issuer: CertificateName
  /// The key that signs.
  var key: PrivateKey
  var thisUpdate: Timestamp
  var nextUpdate: Timestamp?
  var entries: [Entry] = []
  var extensions: [CertificateExtension]
  var signature = Signature.right
  /// The algorithm that the signed part names; nil for the one that signs.
  var namedAlgorithm: CertificateAlgorithm?
  /// Bytes after the list's DER.
  var trailer: [UInt8] = []

  /// A right list (ISO/IEC 18013-5, B.10). It is made anew every day and valid for 90 days, the longest time allowed.
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
      // The damage is in the signed bytes, so that the signature is still right DER.
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
      // Left out if nothing is revoked (RFC 5280, 5.1.2.6).
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

  /// An IssuingDistributionPoint with one field that is TRUE (RFC 5280, 5.2.5).
  ///
  /// - Parameter field: 1 for only user certificates, 2 for only CA certificates, 4 for an indirect list.
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
