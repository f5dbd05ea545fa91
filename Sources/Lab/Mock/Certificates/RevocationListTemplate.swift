import Base
import Cryptography

/// Every field of a certificate revocation list (RFC 5280, 5.1), with a correct or wrong value.
struct RevocationListTemplate: Sendable {
  struct Entry: Sendable {
    /// The content octets of the revoked certificate's serial number.
    var serialNumber: [UInt8]
    var date: Timestamp
    var extensions: [CertificateExtension] = []

    fileprivate var der: [UInt8] {
      DER.sequence(
        DER.integer(serialNumber), DER.time(date),
        extensions.isEmpty ? [] : DER.sequence(of: extensions.map(\.der)))
    }
  }

  enum Signature: String, Sendable, EditValue { case right, damaged, absent }

  /// The encoded version; 1 means version 2. If nil, the version is omitted, as in version 1.
  var version: UInt8? = 1
  var issuer: CertificateName
  /// The key that signs the list.
  var key: PrivateKey
  var thisUpdate: Timestamp
  var nextUpdate: Timestamp?
  var entries: [Entry] = []
  var extensions: [CertificateExtension]
  var signature = Signature.right
  /// The algorithm in the signed part; nil for the actual signature algorithm.
  var namedAlgorithm: CertificateAlgorithm?

  /// Makes a correct list (ISO/IEC 18013-5, B.10). The list changes every day and is valid for 90 days, the maximum.
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
      // Damages the signed bytes instead of the signature, so that the signature remains correct DER.
      case .damaged: try algorithm.sign(list + [0], with: key)
      case .absent: []
      }
    return DER.sequence(list, algorithm.der, DER.bitString(value))
  }

  private func tbsCertList(algorithm: CertificateAlgorithm) -> [UInt8] {
    DER.sequence(
      version.map { DER.integer([$0]) } ?? [],
      algorithm.der,
      issuer.der,
      DER.time(thisUpdate),
      nextUpdate.map(DER.time) ?? [],
      // The entries are omitted if nothing is revoked (RFC 5280, 5.1.2.6).
      entries.isEmpty ? [] : DER.sequence(of: entries.map(\.der)),
      extensions.isEmpty ? [] : DER.explicit(0, DER.sequence(of: extensions.map(\.der))))
  }
}

extension CertificateExtension {
  static func cRLNumber(_ number: UInt64) -> Self {
    Self(oid: "2.5.29.20", value: withUnsafeBytes(of: number.bigEndian) { DER.unsignedInteger(Array($0)) })
  }

  static func certificateIssuer(_ name: CertificateName) -> Self {
    Self(oid: "2.5.29.29", isCritical: true, value: DER.sequence(DER.explicit(4, name.der)))
  }
}
