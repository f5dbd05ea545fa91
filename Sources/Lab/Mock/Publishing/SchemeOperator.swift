import Base
import Cryptography

/// The mock operator of a list of trusted entities: its root, which a verifier configures for the list, and the signer.
struct SchemeOperator: Sendable {
  static let name = "mdoc Mock Scheme Operator"
  static let territory = "EU"
  /// id-tsl-kp-tslSigning (ETSI TS 119 612, 5.7.1).
  static let signingUsage = "0.4.0.2231.3.0"

  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey

  /// - Parameter label: which of several roots of the same name.
  init(authority: MockAuthority, root label: String = "root", at now: Timestamp) throws {
    let root = try Self.root(authority, label)
    key = try authority.seed.key("scheme operator/signer", on: authority.issuerCurve)
    issuerKey = root.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: root.name, notBefore: from, notAfter: from + 1_000 * Seconds.day - 1,
      subject: CertificateName(
        country: Self.territory, state: nil, organization: Self.name, commonName: "mdoc Mock list signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(root.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .extendedKeyUsage([Self.signingUsage]),
        .mockMarker,
      ])
  }

  /// DER of the root; it changes once in ten years.
  static func rootCertificate(_ authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    let root = try root(authority, "root")
    let validity = AnchorKind.good.validity(at: now)
    return try authority.rootTemplate(root, from: validity.from, until: validity.until).signed(by: root.key)
  }

  private static func root(_ authority: MockAuthority, _ label: String) throws -> CertificateIssuer {
    CertificateIssuer(
      name: CertificateName(
        country: territory, state: nil, organization: name, commonName: "mdoc Mock list operator root"),
      key: try authority.seed.key("scheme operator/\(label)", on: authority.issuerCurve))
  }
}
