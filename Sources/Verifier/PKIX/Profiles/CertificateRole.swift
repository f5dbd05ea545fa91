import COpenSSL
import Cryptography

/// The purpose of a certificate, by ISO/IEC 18013-5, Annexes B and C, and ETSI TS 119 602.
public enum CertificateRole: String, CaseIterable, Sendable {
  /// The root of an issuing authority.
  case iaca
  /// An IACA's new root, certified by the IACA's old root.
  case iacaLink = "iaca-link"
  case documentSigner = "document-signer"
  case readerAuthentication = "reader-authentication"
  case ocspResponder = "ocsp-responder"
  case statusListSigner = "status-list-signer"
  case vicalSigner = "vical-signer"
  /// The signer of a list of trusted entities. ETSI describes this role; ISO/IEC 18013-5 does not.
  case trustedEntityListSigner = "trusted-entity-list-signer"

  public var clause: String { profile.clause }

  public var isAuthority: Bool { self == .iaca || self == .iacaLink }

  /// The exact key usages of the profile.
  public var keyUsage: CertificateExtensions.KeyUsage { profile.keyUsage }

  /// True if a certificate with these usages may act in its role. Additional usages are tolerated, unless they make a
  /// signer an authority.
  public func permits(_ usage: CertificateExtensions.KeyUsage?) -> Bool {
    guard let usage else { return false }
    switch self {
    case .iaca, .iacaLink: return usage.contains(.keyCertSign)
    // The profile also distinguishes list signers from document signers by their key usage.
    case .vicalSigner: return usage == .nonRepudiation
    case .trustedEntityListSigner:
      return !usage.isDisjoint(with: [.digitalSignature, .nonRepudiation])
        && usage.isDisjoint(with: [.keyCertSign, .cRLSign])
    default: return usage.contains(.digitalSignature) && usage.isDisjoint(with: [.keyCertSign, .cRLSign])
    }
  }

  /// The purposes that the role allows. The certificate must have one of them. Empty if the profile lists no purposes.
  public var extendedKeyUsages: Set<String> { Set(profile.purposes) }

  /// Whether the extension is required. An extension that lists only other purposes excludes the role (RFC 5280,
  /// 4.2.1.12).
  public var requiresExtendedKeyUsage: Bool { profile.requiresPurpose }

  /// True if a certificate with these purposes may act in its role; nil means that it has no such extension.
  public func permits(extendedKeyUsages purposes: [String]?) -> Bool {
    guard let purposes else { return !requiresExtendedKeyUsage }
    return extendedKeyUsages.isEmpty || !extendedKeyUsages.isDisjoint(with: purposes)
  }

  /// Days between notBefore and notAfter.
  public var longestValidityDays: Int64 { profile.days }
}

extension CertificateRole {
  struct Profile {
    let clause: String
    let keyUsage: CertificateExtensions.KeyUsage
    let purposes: [String]
    let requiresPurpose: Bool
    let days: Int64
    let attributes: [NameAttribute.Kind]
    var requiresIssuerAltName = false
    var requiresRevocationSource = false
    var allowsEdwardsKeys = false
  }

  var profile: Profile {
    switch self {
    // A root may be valid for twenty years. These have at most this number of leap days.
    case .iaca:
      Profile(
        clause: "ISO/IEC 18013-5, B.1.2", keyUsage: [.keyCertSign, .cRLSign], purposes: [], requiresPurpose: false,
        days: 20 * 365 + 5, attributes: [.countryName, .commonName], requiresIssuerAltName: true)
    case .iacaLink:
      Profile(
        clause: "ISO/IEC 18013-5, B.1.3", keyUsage: [.keyCertSign, .cRLSign], purposes: [], requiresPurpose: false,
        days: 20 * 365 + 5, attributes: [.countryName, .commonName], requiresIssuerAltName: true,
        requiresRevocationSource: true)
    case .documentSigner:
      Profile(
        clause: "ISO/IEC 18013-5, B.1.4", keyUsage: .digitalSignature,
        purposes: ["1.0.18013.5.1.2", "1.0.23220.4.1.2"], requiresPurpose: true, days: 457,
        attributes: [.countryName, .commonName], requiresIssuerAltName: true, requiresRevocationSource: true,
        allowsEdwardsKeys: true)
    // The issuer's alternative name is required only if an IACA issued the certificate.
    case .readerAuthentication:
      Profile(
        clause: "ISO/IEC 18013-5, B.1.7", keyUsage: .digitalSignature,
        purposes: ["1.0.18013.5.1.6", "1.0.23220.4.1.6"], requiresPurpose: true, days: 1_187, attributes: [.commonName],
        requiresRevocationSource: true, allowsEdwardsKeys: true)
    case .ocspResponder:
      Profile(
        clause: "ISO/IEC 18013-5, B.1.9", keyUsage: .digitalSignature, purposes: ["1.3.6.1.5.5.7.3.9"],
        requiresPurpose: true, days: 457, attributes: [.countryName, .commonName], requiresIssuerAltName: true,
        requiresRevocationSource: true)
    // id-kp-oauthStatusSigning, by its provisional number. The signer's authority decides on the attributes.
    case .statusListSigner:
      Profile(
        clause: "ISO/IEC 18013-5 (second edition), B.9", keyUsage: .digitalSignature, purposes: ["1.3.6.1.5.5.7.3.30"],
        requiresPurpose: false, days: 1_187, attributes: [])
    case .vicalSigner:
      Profile(
        clause: "ISO/IEC 18013-5, C.1", keyUsage: .nonRepudiation, purposes: ["1.0.18013.5.1.8", "1.0.23220.4.1.8"],
        requiresPurpose: true, days: 1_187, attributes: [.countryName, .organizationName, .commonName],
        requiresRevocationSource: true)
    // id-tsl-kp-tslSigning (ETSI TS 119 612, 5.7.1).
    case .trustedEntityListSigner:
      Profile(
        clause: "ETSI TS 119 602, 6.8", keyUsage: .digitalSignature, purposes: ["0.4.0.2231.3.0"],
        requiresPurpose: false, days: 1_187, attributes: [.countryName, .organizationName])
    }
  }
}

extension CertificateRole {
  /// The guessed role of a certificate, and the reason for the guess.
  public static func guess(_ certificate: Certificate) -> (role: CertificateRole, reason: String) {
    let extensions = certificate.extensions
    // A link certificate may have the same name as issuer and subject, but never the same key.
    let isRoot = certificate.chainsByName(to: certificate)
    if extensions.isCA {
      return isRoot
        ? (.iaca, "it has the CA flag and is its own issuer") : (.iacaLink, "it has the CA flag and another issuer")
    }
    let purposes = Set(extensions.extendedKeyUsage ?? [])
    if let role = allCases.first(where: { !$0.extendedKeyUsages.isDisjoint(with: purposes) }) {
      let known = role.extendedKeyUsages.intersection(purposes).sorted()
      return (role, "its extended key usage has \(known.joined(separator: ", "))")
    }
    let usage = extensions.keyUsage ?? []
    if usage == .nonRepudiation { return (.vicalSigner, "its only key usage is nonRepudiation") }
    if usage.contains(.keyCertSign) { return (isRoot ? .iaca : .iacaLink, "its key usage has keyCertSign") }
    return (.documentSigner, "nothing in it indicates another role")
  }
}

/// A certificate in a role, with everything that the rules of a profile examine.
struct ProfiledCertificate: Sendable {
  let certificate: Certificate
  let role: CertificateRole
  /// The issuer's certificate, if it is known; a root is its own issuer.
  let issuer: Certificate?
  /// Extended key usages that the configuration accepts in addition to the role's own.
  let acceptedUsages: Set<String>

  init(_ certificate: Certificate, as role: CertificateRole, issuer: Certificate?, accepting: Set<String> = []) {
    self.certificate = certificate
    self.role = role
    let isItsOwn = role == .iaca ? certificate.isSelfIssued : certificate.chainsByName(to: certificate)
    self.issuer = issuer ?? (isItsOwn ? certificate : nil)
    acceptedUsages = accepting
  }

  var extensions: CertificateExtensions { certificate.extensions }
  var facts: ProfileFacts { certificate.facts }
}

extension CertificateRole {
  /// The extensions that must be critical if they are present.
  var criticalExtensions: [String] {
    let usage = CertificateExtensions.OID.keyUsage
    if isAuthority { return [CertificateExtensions.OID.basicConstraints, usage] }
    return requiresExtendedKeyUsage ? [usage, CertificateExtensions.OID.extendedKeyUsage] : [usage]
  }
}

struct ProfileFacts: Sendable {
  let isVersion3: Bool
  let subject: [NameAttribute]
  /// The content of the public key's bit string.
  let keyBits: [UInt8]
  /// The signature algorithm; nil if it is not supported.
  let signatureAlgorithm: CertificateSignature.Algorithm?
  /// The issuer's alternative names; nil if the extension is absent or malformed.
  let issuerAltName: [GeneralNames.Name]?
  let subjectAltName: [GeneralNames.Name]?

  /// Reads OpenSSL's representation of the certificate.
  init(_ x509: OpaquePointer) {
    isVersion3 = X509_get_version(x509) == X509_VERSION_3
    subject = X509_get_subject_name(x509).map(NameAttribute.all) ?? []
    keyBits = X509_get0_pubkey_bitstr(x509).map { octets(UnsafePointer($0)) } ?? []
    signatureAlgorithm = CertificateSignature.Algorithm(nid: X509_get_signature_nid(x509))
    issuerAltName = GeneralNames(x509, nid: NID_issuer_alt_name)?.all
    subjectAltName = GeneralNames(x509, nid: NID_subject_alt_name)?.all
  }
}

extension Certificate {
  /// The dNSNames of its subjectAltName (RFC 5280, 4.2.1.6).
  public var dnsNames: [String] {
    (facts.subjectAltName ?? []).compactMap { if case .dNSName(let name) = $0 { name } else { nil } }
  }
}

struct NameAttribute: Sendable {
  /// The attributes that the rules mention, by OpenSSL's long names.
  enum Kind: String, CaseIterable { case countryName, stateOrProvinceName, organizationName, commonName }

  /// The kind; nil for any other attribute.
  let kind: Kind?
  let isPrintableString: Bool
  let value: [UInt8]

  static func all(_ name: OpaquePointer) -> [NameAttribute] {
    (0..<X509_NAME_entry_count(name)).compactMap { index in
      guard let entry = X509_NAME_get_entry(name, index), let object = X509_NAME_ENTRY_get_object(entry),
        let data = X509_NAME_ENTRY_get_data(entry)
      else { return nil }
      return NameAttribute(
        kind: Kind(rawValue: OBJ_nid2ln(OBJ_obj2nid(object)).map { String(cString: $0) } ?? ""),
        isPrintableString: ASN1_STRING_type(data) == V_ASN1_PRINTABLESTRING, value: octets(data))
    }
  }
}
