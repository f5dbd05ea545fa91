import Base
import Cryptography

/// A document signer to be: its key, its certificate's every field, and what goes before and after it in x5chain.
struct DocumentSigner: Sendable {
  static let mDLKeyUsage = "1.0.18013.5.1.2"
  static let photoIDKeyUsage = "1.0.23220.4.1.2"
  static let readerKeyUsage = "1.0.18013.5.1.6"

  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// Certificates that follow the signer's in x5chain, DER.
  var further: [[UInt8]] = []
  /// Takes the finished DER of the signer's certificate.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// A signer as ISO/IEC 18013-5, B.1.4 has it. Its validity begins with a calendar month, so that the certificate is
  /// the same for all answers of a month.
  init(authority: MockAuthority, under issuer: CertificateIssuer, curve: Curve, at now: Timestamp) throws {
    key = try authority.seed.key("ds", on: curve)
    issuerKey = issuer.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + 400 * Seconds.day - 1,
      subject: authority.name("mdoc Mock Document Signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .issuerAltName(uri: authority.addresses.authority),
        .crlDistributionPoint(uri: authority.addresses.crl),
        .extendedKeyUsage([Self.mDLKeyUsage, Self.photoIDKeyUsage]),
        .mockMarker,
      ])
  }

  /// Has the certificate name a revocation list that is published there.
  mutating func nameList(at address: String) {
    certificate[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(uri: address)
  }

  /// The certificates of x5chain, leaf first.
  func chain() throws -> [[UInt8]] {
    [finish(try certificate.signed(by: issuerKey))] + further
  }
}

extension MockAuthority {
  /// DER of the signer's certificate that right documents have; it changes once a month of `now`.
  package func documentSigner(at now: Timestamp) throws -> [UInt8] {
    let issuer = try certificateIssuer(.good)
    return try DocumentSigner(authority: self, under: issuer, curve: issuerCurve, at: now).certificate
      .signed(by: issuer.key)
  }
}

/// Spans of time, as `Timestamp` counts them.
enum Seconds {
  static let hour: Int64 = 3_600
  static let day: Int64 = 86_400
}
