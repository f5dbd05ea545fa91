import Base

/// One X.509 extension, with the DER of its value.
struct CertificateExtension: Sendable {
  var oid: String
  var isCritical: Bool
  var value: [UInt8]

  var der: [UInt8] {
    DER.sequence(
      DER.objectIdentifier(oid), isCritical ? DER.boolean(true) : [], DER.octetString(value))
  }

  static let subjectKeyIdentifierOID = "2.5.29.14"
  static let keyUsageOID = "2.5.29.15"
  static let subjectAltNameOID = "2.5.29.17"
  static let issuerAltNameOID = "2.5.29.18"
  static let basicConstraintsOID = "2.5.29.19"
  static let nameConstraintsOID = "2.5.29.30"
  static let crlDistributionPointsOID = "2.5.29.31"
  static let authorityKeyIdentifierOID = "2.5.29.35"
  static let policyConstraintsOID = "2.5.29.36"
  static let extendedKeyUsageOID = "2.5.29.37"

  static let mockMarker = CertificateExtension(
    oid: MockCertificateMarker.oid, isCritical: false, value: MockCertificateMarker.value)

  static func basicConstraints(isCA: Bool, pathLength: UInt8?) -> CertificateExtension {
    let content = (isCA ? DER.boolean(true) : []) + (pathLength.map { DER.integer([$0]) } ?? [])
    return CertificateExtension(oid: basicConstraintsOID, isCritical: true, value: DER.element(0x30, content))
  }

  enum KeyUsage: UInt8, Sendable { case digitalSignature = 0, nonRepudiation = 1, keyCertSign = 5, crlSign = 6 }

  static func keyUsage(_ usages: KeyUsage..., isCritical: Bool = true) -> CertificateExtension {
    let bits = usages.reduce(into: 0 as UInt8) { $0 |= 0x80 >> $1.rawValue }
    // A named bit list ends with its last bit that is set (X.690, 11.2.2).
    return CertificateExtension(
      oid: keyUsageOID, isCritical: isCritical,
      value: DER.bitString([bits], unusedBits: UInt8(bits.trailingZeroBitCount)))
  }

  static func extendedKeyUsage(_ oids: [String], isCritical: Bool = true) -> CertificateExtension {
    CertificateExtension(
      oid: extendedKeyUsageOID, isCritical: isCritical, value: DER.sequence(of: oids.map(DER.objectIdentifier)))
  }

  static func subjectKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension(oid: subjectKeyIdentifierOID, isCritical: false, value: DER.octetString(identifier))
  }

  static func authorityKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension(
      oid: authorityKeyIdentifierOID, isCritical: false, value: DER.sequence(DER.implicit(0, identifier)))
  }

  static func issuerAltName(uri: String) -> CertificateExtension {
    CertificateExtension(
      oid: issuerAltNameOID, isCritical: false, value: DER.sequence(DER.implicit(6, Array(uri.utf8))))
  }

  static func subjectAltName(dnsName: String) -> CertificateExtension {
    CertificateExtension(
      oid: subjectAltNameOID, isCritical: false, value: DER.sequence(DER.implicit(2, Array(dnsName.utf8))))
  }

  /// A name of a distribution point (RFC 5280, 4.2.1.6).
  enum PointName: Sendable {
    case host(String), address(String)

    var der: [UInt8] {
      switch self {
      case .host(let name): DER.implicit(2, Array(name.utf8))
      case .address(let uri): DER.implicit(6, Array(uri.utf8))
      }
    }
  }

  static func crlDistributionPoint(uri: String) -> CertificateExtension { crlDistributionPoint(.address(uri)) }

  /// One point, whose name is one or has several forms.
  static func crlDistributionPoint(_ names: PointName...) -> CertificateExtension {
    let fullName = DER.explicit(0, DER.explicit(0, names.flatMap(\.der)))
    return CertificateExtension(
      oid: crlDistributionPointsOID, isCritical: false, value: DER.sequence(DER.sequence(fullName)))
  }

  /// An explicit policy is required from here on. Not critical, though RFC 5280 wants it so.
  static let policyConstraints = CertificateExtension(
    oid: policyConstraintsOID, isCritical: false, value: DER.sequence(DER.implicit(0, [0x00])))

  /// permittedSubtrees with one directoryName (RFC 5280, 4.2.1.10).
  static func nameConstraints(permitting name: CertificateName) -> CertificateExtension {
    let subtree = DER.sequence(DER.explicit(4, name.der))
    return CertificateExtension(
      oid: nameConstraintsOID, isCritical: true, value: DER.sequence(DER.explicit(0, subtree)))
  }
}
