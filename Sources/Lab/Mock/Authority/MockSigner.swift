import Base
import CBOR
import Compression
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

/// The signer of a status list to be: a key and a certificate as ISO/IEC 18013-5, second edition, B.9 has it.
struct ListSigner: Sendable {
  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// Certificates that follow the signer's in x5chain, DER.
  var further: [[UInt8]] = []

  /// Its validity begins with a calendar month, so that the certificate is the same for all lists of a month.
  init(authority: MockAuthority, under issuer: CertificateIssuer, at now: Timestamp) throws {
    key = try authority.seed.key("status list signer", on: authority.issuerCurve)
    issuerKey = issuer.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + 1_000 * Seconds.day - 1,
      subject: authority.name("mdoc Mock Status List Signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .mockMarker,
      ])
  }

  /// Leaf first, DER.
  func chain() throws -> [[UInt8]] { [try certificate.signed(by: issuerKey)] + further }

  /// One certificate as a byte string, several as an array (RFC 9360).
  func x5chain() throws -> CBORValue {
    let chain = try chain()
    return chain.count == 1 ? .bytes(chain[0]) : .array(chain.map { .bytes($0) })
  }
}

/// Entries of `bits` bits, the first in the lowest bits, as a zlib stream (Token Status List, 4.1).
func packedStatuses(_ entries: [UInt8], bits: Int) throws -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: (entries.count * bits + 7) / 8)
  for (index, entry) in entries.enumerated() {
    bytes[index * bits / 8] |= entry << UInt8(index * bits % 8)
  }
  return try Deflation.deflate(bytes)
}

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

/// A relying party of the mock: its key for reader authentication and signed requests, and who vouches for it.
package struct MockReader: Sendable {
  /// P-256.
  package let key: PrivateKey
  /// DER, the leaf first; the root is not among them (ISO/IEC 18013-5:2021, 9.1.4.4).
  package let certificates: [[UInt8]]
  /// DER of the reader authority's own certificate, for wallets that authenticate readers.
  package let root: [UInt8]
  /// The leaf's dNSName.
  package let dnsName: String
}

extension MockAuthority {
  /// A reader with a certificate as ISO/IEC 18013-5:2021, B.1.7 has it, valid from the start of a calendar month: it is
  /// the same for a name during a month of `now`.
  ///
  /// Its keys are on P-256 whatever curve the documents' issuer has: signed requests are ES256 (HAIP 1.0, 7).
  package func reader(dnsName: String, at now: Timestamp) throws -> MockReader {
    let root = CertificateIssuer(
      name: name("mdoc Mock Reader Authority"), key: try seed.key("reader authority", on: .p256))
    let validity = AnchorKind.good.validity(at: now)
    var rootTemplate = rootTemplate(root, from: validity.from, until: validity.until)
    rootTemplate[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(uri: addresses.readerCRL)
    let key = try seed.key("reader/\(dnsName)", on: .p256)
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    let leaf = CertificateTemplate(
      issuer: root.name, notBefore: from, notAfter: from + 390 * Seconds.day - 1,
      subject: CertificateName(
        country: country, state: stateOrProvince, organization: "mdoc Mock Relying Party", commonName: dnsName),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(root.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .subjectAltName(dnsName: dnsName),
        .crlDistributionPoint(uri: addresses.readerCRL),
        .extendedKeyUsage([DocumentSigner.readerKeyUsage]),
        .mockMarker,
      ])
    return MockReader(
      key: key, certificates: [try leaf.signed(by: root.key)], root: try rootTemplate.signed(by: root.key),
      dnsName: dnsName)
  }
}
