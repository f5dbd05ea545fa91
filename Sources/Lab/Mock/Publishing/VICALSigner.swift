import Base
import CBOR
import Cryptography

/// The provider of mock VICALs: its own authority, and the signer that this certifies (ISO/IEC 18013-5, C.1).
struct VICALSigner: Sendable {
  static let keyUsage = "1.0.18013.5.1.8"

  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// Certificates that follow the signer's in x5chain, DER.
  var further: [[UInt8]] = []

  /// Its validity begins with a calendar month, so that the certificate is the same for all lists of a month.
  init(authority: MockAuthority, under issuer: CertificateIssuer, at now: Timestamp) throws {
    key = try authority.seed.key("vical signer", on: authority.issuerCurve)
    issuerKey = issuer.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + 1_000 * Seconds.day - 1,
      subject: authority.name("mdoc Mock VICAL Signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.nonRepudiation),
        .extendedKeyUsage([Self.keyUsage]),
        .crlDistributionPoint(uri: authority.addresses.crl),
        .mockMarker,
      ])
  }

  /// One certificate as a byte string, several as an array (RFC 9360).
  func x5chain() throws -> CBORValue {
    let chain = [try certificate.signed(by: issuerKey)] + further
    return chain.count == 1 ? .bytes(chain[0]) : .array(chain.map { .bytes($0) })
  }

  static func provider(_ authority: MockAuthority, key label: String = "vical root") throws -> CertificateIssuer {
    CertificateIssuer(
      name: authority.name("mdoc Mock VICAL Root"), key: try authority.seed.key(label, on: authority.issuerCurve))
  }

  /// The provider's certificate, DER. It changes once in ten years of `now`.
  static func root(
    _ authority: MockAuthority, _ issuer: CertificateIssuer, at now: Timestamp
  ) throws -> [UInt8] {
    let validity = AnchorKind.good.validity(at: now)
    return try authority.rootTemplate(issuer, from: validity.from, until: validity.until).signed(by: issuer.key)
  }
}
