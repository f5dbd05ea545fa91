/// A distinguished name (RFC 5280, 4.1.2.4): attributes in the order given, each with its DER value.
struct CertificateName: Sendable {
  var attributes: [(oid: String, value: [UInt8])]

  static let country = "2.5.4.6"
  static let stateOrProvince = "2.5.4.8"
  static let organization = "2.5.4.10"
  static let commonName = "2.5.4.3"
  static let uniqueIdentifier = "2.5.4.45"

  init(country: String?, state: String?, organization: String?, commonName: String) {
    attributes = []
    // ISO/IEC 18013-5, B.1: countryName is a PrintableString, upper case.
    if let country { attributes.append((Self.country, DER.printableString(country))) }
    if let state { attributes.append((Self.stateOrProvince, DER.utf8String(state))) }
    if let organization { attributes.append((Self.organization, DER.utf8String(organization))) }
    attributes.append((Self.commonName, DER.utf8String(commonName)))
  }

  /// Replaces the attribute, or removes it.
  mutating func set(_ oid: String, to value: [UInt8]?) {
    guard let index = attributes.firstIndex(where: { $0.oid == oid }) else {
      if let value { attributes.append((oid, value)) }
      return
    }
    if let value { attributes[index].value = value } else { attributes.remove(at: index) }
  }

  var der: [UInt8] {
    DER.sequence(of: attributes.map { DER.set(DER.sequence(DER.objectIdentifier($0.oid), $0.value)) })
  }
}
