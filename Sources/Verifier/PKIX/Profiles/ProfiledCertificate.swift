import COpenSSL
import Cryptography

/// A certificate in a role, with everything that the rules of a profile look at.
struct ProfiledCertificate: Sendable {
  let certificate: Certificate
  let role: CertificateRole
  /// The issuer's certificate, if it is known; a root is its own issuer.
  let issuer: Certificate?
  /// Extended key usages that the configuration accepts like the role's own.
  let acceptedUsages: Set<String>
  let facts: ProfileFacts

  init(_ certificate: Certificate, as role: CertificateRole, issuer: Certificate?, accepting: Set<String> = []) {
    self.certificate = certificate
    self.role = role
    let isItsOwn = role == .iaca ? certificate.isSelfIssued : certificate.chainsByName(to: certificate)
    self.issuer = issuer ?? (isItsOwn ? certificate : nil)
    acceptedUsages = accepting
    facts = ProfileFacts(certificate)
  }

  var extensions: CertificateExtensions { certificate.extensions }

}

extension CertificateRole {
  /// Attributes that the subject must have.
  var requiredAttributes: [NameAttribute.Kind] {
    switch self {
    case .iaca, .iacaLink, .documentSigner, .ocspResponder: [.country, .commonName]
    case .readerAuthentication: [.commonName]
    case .vicalSigner: [.country, .organization, .commonName]
    case .trustedEntityListSigner: [.country, .organization]
    // Its authority decides on them.
    case .statusListSigner: []
    }
  }

  /// Whether keys on Edwards curves are foreseen.
  var allowsEdwardsKeys: Bool { self == .documentSigner || self == .readerAuthentication }

  /// The extensions that must be critical if they are there.
  var criticalExtensions: [String] {
    let usage = CertificateExtensions.OID.keyUsage
    if isAuthority { return [CertificateExtensions.OID.basicConstraints, usage] }
    return requiresExtendedKeyUsage ? [usage, CertificateExtensions.OID.extendedKeyUsage] : [usage]
  }

  var requiresIssuerAltName: Bool {
    switch self {
    case .iaca, .iacaLink, .documentSigner, .ocspResponder: true
    // The extension is required only if an IACA issued the certificate.
    case .readerAuthentication: false
    case .vicalSigner, .statusListSigner, .trustedEntityListSigner: false
    }
  }

  var requiresRevocationSource: Bool {
    switch self {
    case .iacaLink, .documentSigner, .readerAuthentication, .ocspResponder, .vicalSigner: true
    case .iaca, .statusListSigner, .trustedEntityListSigner: false
    }
  }
}

/// Facts that only profiles need. They are read when a profile asks for them, so that nothing else waits for them.
struct ProfileFacts: Sendable {
  let isVersion3: Bool
  let subject: [NameAttribute]
  /// The content of the public key's bit string.
  let keyBits: [UInt8]
  /// Nil if the algorithm is not supported.
  let signatureAlgorithm: CertificateSignature.Algorithm?
  /// Nil if the extension is absent or not well-formed.
  let issuerAltName: [GeneralNames.Name]?
  let subjectAltName: [GeneralNames.Name]?

  init(_ certificate: Certificate) {
    defer { ERR_clear_error() }
    // It could be parsed before. If it could not be parsed now, every rule would find its values missing.
    let x509 = parsedCertificate(certificate.der)
    defer { X509_free(x509) }
    isVersion3 = x509.map { X509_get_version($0) == X509_VERSION_3 } ?? false
    subject = x509.flatMap { X509_get_subject_name($0) }.map(NameAttribute.all) ?? []
    keyBits = x509.flatMap { X509_get0_pubkey_bitstr($0) }.map { octets(UnsafePointer($0)) } ?? []
    signatureAlgorithm = x509.flatMap { CertificateSignature.Algorithm(nid: X509_get_signature_nid($0)) }
    issuerAltName = x509.flatMap { GeneralNames($0, nid: NID_issuer_alt_name) }?.all
    subjectAltName = x509.flatMap { GeneralNames($0, nid: NID_subject_alt_name) }?.all
  }
}

extension Certificate {
  /// The dNSNames of its subjectAltName (RFC 5280, 4.2.1.6).
  public var dnsNames: [String] {
    (ProfileFacts(self).subjectAltName ?? []).compactMap { if case .dNSName(let name) = $0 { name } else { nil } }
  }
}

/// An attribute of a distinguished name.
struct NameAttribute: Sendable {
  enum Kind: Sendable {
    case country, stateOrProvince, organization, commonName, other
  }

  let kind: Kind
  let oid: String
  let isPrintableString: Bool
  let value: [UInt8]

  static func all(_ name: OpaquePointer) -> [NameAttribute] {
    (0..<X509_NAME_entry_count(name)).compactMap { index in
      guard let entry = X509_NAME_get_entry(name, index), let object = X509_NAME_ENTRY_get_object(entry),
        let data = X509_NAME_ENTRY_get_data(entry), let oid = dottedIdentifier(object)
      else { return nil }
      return NameAttribute(
        kind: kind(OBJ_obj2nid(object)), oid: oid, isPrintableString: ASN1_STRING_type(data) == V_ASN1_PRINTABLESTRING,
        value: octets(data))
    }
  }

  private static func kind(_ nid: Int32) -> Kind {
    switch nid {
    case NID_countryName: .country
    case NID_stateOrProvinceName: .stateOrProvince
    case NID_organizationName: .organization
    case NID_commonName: .commonName
    default: .other
    }
  }
}
