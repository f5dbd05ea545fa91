/// The purpose of a certificate, and what its profile says about key usage, extended key usage and validity.
///
/// The roles are those of ISO/IEC 18013-5, Annexes B and C, and the signer of a list of trusted entities.
public enum CertificateRole: String, CaseIterable, Sendable {
  /// The root of an issuing authority.
  case iaca
  /// An IACA's new root, certified by its old one.
  case iacaLink = "iaca-link"
  case documentSigner = "document-signer"
  case readerAuthentication = "reader-authentication"
  case ocspResponder = "ocsp-responder"
  /// The signer of status lists and identifier lists.
  case statusListSigner = "status-list-signer"
  case vicalSigner = "vical-signer"
  /// The signer of a list of trusted entities, which ETSI describes and ISO/IEC 18013-5 does not.
  case trustedEntityListSigner = "trusted-entity-list-signer"

  public var clause: String {
    switch self {
    case .iaca: "ISO/IEC 18013-5, B.1.2"
    case .iacaLink: "ISO/IEC 18013-5, B.1.3"
    case .documentSigner: "ISO/IEC 18013-5, B.1.4"
    case .readerAuthentication: "ISO/IEC 18013-5, B.1.7"
    case .ocspResponder: "ISO/IEC 18013-5, B.1.9"
    case .statusListSigner: "ISO/IEC 18013-5 (second edition), B.9"
    case .vicalSigner: "ISO/IEC 18013-5, C.1"
    case .trustedEntityListSigner: "ETSI TS 119 602, 6.8"
    }
  }

  public var isAuthority: Bool { self == .iaca || self == .iacaLink }

  /// The key usages of the profile, exactly.
  public var keyUsage: CertificateExtensions.KeyUsage {
    switch self {
    case .iaca, .iacaLink: [.keyCertSign, .cRLSign]
    case .documentSigner, .readerAuthentication, .ocspResponder, .statusListSigner, .trustedEntityListSigner:
      .digitalSignature
    case .vicalSigner: .nonRepudiation
    }
  }

  /// Whether a certificate with these usages may act in its role. This is less strict than the profile, because
  /// certificates in use deviate: an additional usage does no harm unless it makes an authority of a signer.
  public func permits(_ usage: CertificateExtensions.KeyUsage?) -> Bool {
    guard let usage else { return false }
    switch self {
    case .iaca, .iacaLink: return usage.contains(.keyCertSign)
    // The profile distinguishes signers of lists and of documents by this, too.
    case .vicalSigner: return usage == .nonRepudiation
    case .trustedEntityListSigner:
      return !usage.isDisjoint(with: [.digitalSignature, .nonRepudiation])
        && usage.isDisjoint(with: [.keyCertSign, .cRLSign])
    default: return usage.contains(.digitalSignature) && usage.isDisjoint(with: [.keyCertSign, .cRLSign])
    }
  }

  /// The purposes that the role allows; the certificate must have one of them. Empty if the profile has none.
  public var extendedKeyUsages: Set<String> {
    switch self {
    case .iaca, .iacaLink: []
    case .documentSigner: ["1.0.18013.5.1.2", "1.0.23220.4.1.2"]
    case .readerAuthentication: ["1.0.18013.5.1.6", "1.0.23220.4.1.6"]
    case .ocspResponder: ["1.3.6.1.5.5.7.3.9"]
    // id-kp-oauthStatusSigning, with the number that implementations use until the draft assigns one.
    case .statusListSigner: ["1.3.6.1.5.5.7.3.30"]
    case .vicalSigner: ["1.0.18013.5.1.8", "1.0.23220.4.1.8"]
    // id-tsl-kp-tslSigning (ETSI TS 119 612, 5.7.1).
    case .trustedEntityListSigner: ["0.4.0.2231.3.0"]
    }
  }

  /// Whether the extension must be there. Even if it need not be, an extension that names only other purposes excludes
  /// this role (RFC 5280, 4.2.1.12).
  public var requiresExtendedKeyUsage: Bool {
    switch self {
    case .documentSigner, .readerAuthentication, .ocspResponder, .vicalSigner: true
    case .iaca, .iacaLink, .statusListSigner, .trustedEntityListSigner: false
    }
  }

  /// Whether a certificate with these purposes may act in its role; `nil` means that it has no such extension.
  public func permits(extendedKeyUsages purposes: [String]?) -> Bool {
    guard let purposes else { return !requiresExtendedKeyUsage }
    return extendedKeyUsages.isEmpty || !extendedKeyUsages.isDisjoint(with: purposes)
  }

  /// Days between notBefore and notAfter. A root's are twenty years with the most leap days that these can have.
  public var longestValidityDays: Int64 {
    switch self {
    case .iaca, .iacaLink: 20 * 365 + 5
    case .documentSigner, .ocspResponder: 457
    case .readerAuthentication, .statusListSigner, .vicalSigner, .trustedEntityListSigner: 1_187
    }
  }
}

extension CertificateRole {
  /// The role for which a certificate seems to be made, and the reason for the guess.
  public static func guess(_ certificate: Certificate) -> (role: CertificateRole, reason: String) {
    let extensions = certificate.extensions
    // A link certificate may have the same name as issuer and subject, but never the same key.
    let isRoot = certificate.chainsByName(to: certificate)
    if extensions.isCA {
      return isRoot
        ? (.iaca, "it has the CA flag, and is its own issuer") : (.iacaLink, "it has the CA flag, and another issuer")
    }
    let purposes = Set(extensions.extendedKeyUsage ?? [])
    if let role = allCases.first(where: { !$0.extendedKeyUsages.isDisjoint(with: purposes) }) {
      let known = role.extendedKeyUsages.intersection(purposes).sorted()
      return (role, "its extended key usage has \(known.joined(separator: ", "))")
    }
    let usage = extensions.keyUsage ?? []
    if usage == .nonRepudiation { return (.vicalSigner, "its only key usage is nonRepudiation") }
    if usage.contains(.keyCertSign) {
      return (isRoot ? .iaca : .iacaLink, "its key usage has keyCertSign")
    }
    return (.documentSigner, "nothing in it tells of another role")
  }
}
