import Base
import Cryptography
import PKIX

@testable import Mock

/// A certificate of every role that meets every rule, to be changed in one respect.
struct ProfileMaker {
  typealias Change = (inout CertificateTemplate) -> Void

  let maker: CertificateMaker
  let root: Certificate
  /// The key of the certificates that are made.
  let key: PrivateKey

  init(curve: Curve = .p256) throws {
    maker = try CertificateMaker(curve: curve)
    root = try Certificate(der: maker.rootTemplate().signed(by: maker.root.key))
    key = try PrivateKey(generatingOn: .p256)
  }

  func template(_ role: CertificateRole) throws -> CertificateTemplate {
    var template = try maker.signerTemplate(key.publicKey)
    switch role {
    case .iaca: return maker.rootTemplate()
    case .iacaLink:
      let name = CertificateName(country: "US", state: nil, organization: nil, commonName: "new root")
      template = maker.caTemplate(CertificateIssuer(name: name, key: key), under: maker.root, pathLength: 0)
      template.extensions.append(.crlDistributionPoint(uri: "https://ca.example/crl"))
      template.extensions.append(Self.subjectAltName(DER.explicit(4, name.der)))
    case .documentSigner, .readerAuthentication, .ocspResponder:
      template[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(role.extendedKeyUsages.sorted())
    case .statusListSigner: template[oid: CertificateExtension.extendedKeyUsageOID] = nil
    case .vicalSigner, .trustedEntityListSigner:
      template.subject = CertificateName(country: "US", state: nil, organization: "provider", commonName: "signer")
      template[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(role.extendedKeyUsages.sorted())
      if role == .vicalSigner { template[oid: CertificateExtension.keyUsageOID] = .keyUsage(.nonRepudiation) }
    }
    return template
  }

  /// The profile's findings about a certificate of the role with one change.
  func findings(
    _ role: CertificateRole, at now: Timestamp? = nil, _ change: Change = { _ in }
  ) throws -> [Check] {
    var template = try template(role)
    change(&template)
    return try findings(role, template.signed(by: maker.root.key), at: now)
  }

  func findings(_ role: CertificateRole, _ der: [UInt8], at now: Timestamp? = nil) throws -> [Check] {
    let certificate = try Certificate(der: der)
    let issuer = role == .iaca ? nil : root
    return CertificateProfile.check(certificate, as: role, issuer: issuer, at: now ?? maker.now)
      .filter { $0.outcome == .failed || $0.outcome == .warning }
  }

  static func subjectAltName(_ name: [UInt8]) -> CertificateExtension {
    CertificateExtension(oid: "2.5.29.17", isCritical: false, value: DER.sequence(name))
  }

  static func issuerAltName(_ name: [UInt8]) -> CertificateExtension {
    CertificateExtension(
      oid: CertificateExtension.issuerAltNameOID, isCritical: false, value: DER.sequence(name))
  }

  /// One distribution point with these fields.
  static func distributionPoint(_ fields: [UInt8]...) -> CertificateExtension {
    CertificateExtension(
      oid: CertificateExtension.crlDistributionPointsOID, isCritical: false,
      value: DER.sequence(DER.sequence(of: fields)))
  }

  static func fullName(_ name: [UInt8]) -> [UInt8] { DER.explicit(0, DER.explicit(0, name)) }
}
