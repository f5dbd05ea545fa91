import Base

/// One X.509 extension. `value` is the DER encoding of the extension's value.
package struct CertificateExtension: Sendable {
  var oid: String
  var isCritical = false
  var value: [UInt8]

  var der: [UInt8] {
    DER.sequence(DER.objectIdentifier(oid), isCritical ? DER.boolean(true) : [], DER.octetString(value))
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

  static let mockMarker = Self(oid: MockCertificateMarker.oid, value: MockCertificateMarker.value)

  static func basicConstraints(isCA: Bool, pathLength: UInt8?) -> Self {
    let content = (isCA ? DER.boolean(true) : []) + (pathLength.map { DER.integer([$0]) } ?? [])
    return Self(oid: basicConstraintsOID, isCritical: true, value: DER.element(0x30, content))
  }

  enum KeyUsage: UInt8, Sendable { case digitalSignature = 0, nonRepudiation = 1, keyCertSign = 5, crlSign = 6 }

  static func keyUsage(_ usages: KeyUsage..., isCritical: Bool = true) -> Self {
    let bits = usages.reduce(into: 0 as UInt8) { $0 |= 0x80 >> $1.rawValue }
    // The encoding of a named bit list ends with the last 1 bit (X.690, 11.2.2).
    let value = DER.bitString([bits], unusedBits: UInt8(bits.trailingZeroBitCount))
    return Self(oid: keyUsageOID, isCritical: isCritical, value: value)
  }

  static func extendedKeyUsage(_ oids: [String], isCritical: Bool = true) -> Self {
    Self(oid: extendedKeyUsageOID, isCritical: isCritical, value: DER.sequence(of: oids.map(DER.objectIdentifier)))
  }

  static func subjectKeyIdentifier(_ identifier: [UInt8]) -> Self {
    Self(oid: subjectKeyIdentifierOID, value: DER.octetString(identifier))
  }

  static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Self {
    Self(oid: authorityKeyIdentifierOID, value: DER.sequence(DER.implicit(0, identifier)))
  }

  static func issuerAltName(uri: String) -> Self {
    Self(oid: issuerAltNameOID, value: DER.sequence(GeneralName.address(uri).der))
  }

  static func subjectAltName(dnsName: String) -> Self {
    Self(oid: subjectAltNameOID, value: DER.sequence(GeneralName.host(dnsName).der))
  }

  /// A name (RFC 5280, 4.2.1.6).
  enum GeneralName: Sendable {
    case host(String), address(String)

    var der: [UInt8] {
      switch self {
      case .host(let name): DER.implicit(2, Array(name.utf8))
      case .address(let uri): DER.implicit(6, Array(uri.utf8))
      }
    }
  }

  static func crlDistributionPoint(uri: String) -> Self { crlDistributionPoint([.address(uri)]) }

  /// One distribution point, with one or several forms of its name.
  static func crlDistributionPoint(_ names: [GeneralName]) -> Self {
    let fullName = DER.explicit(0, DER.explicit(0, names.flatMap(\.der)))
    return Self(oid: crlDistributionPointsOID, value: DER.sequence(DER.sequence(fullName)))
  }

  /// Requires an explicit policy from this certificate on. It is not critical, although RFC 5280 requires it to be
  /// critical.
  static let policyConstraints = Self(oid: policyConstraintsOID, value: DER.sequence(DER.implicit(0, [0x00])))

  /// nameConstraints with one directoryName in permittedSubtrees (RFC 5280, 4.2.1.10).
  static func nameConstraints(permitting name: CertificateName) -> Self {
    let subtree = DER.sequence(DER.explicit(4, name.der))
    return Self(oid: nameConstraintsOID, isCritical: true, value: DER.sequence(DER.explicit(0, subtree)))
  }
}

/// Writes correct or deliberately wrong DER (X.690).
enum DER {
  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

  static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
  static func sequence(of parts: [[UInt8]]) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
  static func set(_ part: [UInt8]) -> [UInt8] { element(0x31, part) }
  static func octetString(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
  static func utf8String(_ text: String) -> [UInt8] { element(0x0c, Array(text.utf8)) }
  static func printableString(_ text: String) -> [UInt8] { element(0x13, Array(text.utf8)) }
  static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xff : 0x00]) }
  static let null: [UInt8] = [0x05, 0x00]

  /// An INTEGER with these content octets, in two's complement.
  static func integer(_ content: [UInt8]) -> [UInt8] { element(0x02, content) }

  /// A non-negative INTEGER from big-endian bytes of any length.
  static func unsignedInteger(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var content = Array(bytes.drop { $0 == 0 })
    if content.isEmpty || content[0] >= 0x80 { content.insert(0, at: 0) }
    return integer(content)
  }

  static func bitString(_ bytes: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] { element(0x03, [unusedBits] + bytes) }

  /// A constructed context-specific tag.
  static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0xa0 | number, content) }

  /// A primitive context-specific tag.
  static func implicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0x80 | number, content) }

  static func objectIdentifier(_ dotted: String) -> [UInt8] {
    let arcs = dotted.split(separator: ".").compactMap { UInt64($0) }
    precondition(arcs.count >= 2, "an object identifier has at least two arcs")
    var content = base128(arcs[0] * 40 + arcs[1])
    for arc in arcs[2...] { content += base128(arc) }
    return element(0x06, content)
  }

  /// UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5).
  static func time(_ instant: Timestamp) -> [UInt8] {
    let digits = instant.description.utf8.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let isGeneralized = !(1950...2049).contains(instant.date.year)
    let text = (isGeneralized ? digits : Array(digits.dropFirst(2))) + [UInt8(ascii: "Z")]
    return element(isGeneralized ? 0x18 : 0x17, text)
  }

  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }.drop { $0 == 0 }
    return [0x80 | UInt8(bytes.count)] + bytes
  }

  private static func base128(_ value: UInt64) -> [UInt8] {
    var bytes = [UInt8(value & 0x7f)]
    var rest = value >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }
}
