import Cryptography

/// A certificate in a role, with all that the rules of a profile look at.
struct ProfiledCertificate: Sendable {
  let certificate: Certificate
  let role: CertificateRole
  /// The certificate of the one that issued it, where it is known: itself, of a root.
  let issuer: Certificate?
  /// Extended key usages that are as good as the role's own, by configuration.
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
    // Whatever its authority gives it.
    case .statusListSigner: []
    }
  }

  /// Whether keys on Edwards curves are foreseen.
  var allowsEdwardsKeys: Bool { self == .documentSigner || self == .readerAuthentication }

  /// The extensions that are critical where they stand.
  var criticalExtensions: [String] {
    let usage = CertificateExtensions.OID.keyUsage
    if isAuthority { return [CertificateExtensions.OID.basicConstraints, usage] }
    return requiresExtendedKeyUsage ? [usage, CertificateExtensions.OID.extendedKeyUsage] : [usage]
  }

  var requiresIssuerAltName: Bool {
    switch self {
    case .iaca, .iacaLink, .documentSigner, .ocspResponder: true
    // Only where an IACA issued it.
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
