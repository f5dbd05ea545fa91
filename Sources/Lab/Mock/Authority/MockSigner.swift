import Base
import CBOR
import Cryptography

/// A signer that is still to be made: its key, every field of its certificate, and the rest of the chain.
struct MockSigner: Sendable {
  /// The purpose for which the mock authority certifies a signer.
  enum Role: Sendable {
    /// Documents (ISO/IEC 18013-5, B.1.4).
    case documents
    /// Status lists and identifier lists (ISO/IEC 18013-5, second edition, B.9).
    case statusLists
    /// VICALs (ISO/IEC 18013-5, C.1).
    case vicals
    /// Lists of trusted entities (ETSI TS 119 602).
    case trustedEntityLists
    /// Requests of a relying party (ISO/IEC 18013-5:2021, B.1.7).
    case reader(dnsName: String)
  }

  static let mDLKeyUsage = "1.0.18013.5.1.2"
  static let photoIDKeyUsage = "1.0.23220.4.1.2"
  static let readerKeyUsage = "1.0.18013.5.1.6"

  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// Certificates that follow the signer's in x5chain, DER.
  var further: [[UInt8]] = []
  /// Changes the finished DER of the signer's certificate.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// The certificate's validity begins with a calendar month, so the certificate is the same throughout a month of
  /// `now`.
  ///
  /// - Parameter curve: the curve of the key; nil for the authority's.
  init(
    _ role: Role = .documents, authority: MockAuthority, under issuer: CertificateIssuer,
    curve: Curve? = nil,
    at now: Timestamp
  ) throws {
    key = try authority.seed.key(role.keyLabel, on: curve ?? authority.issuerCurve)
    issuerKey = issuer.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + role.days * Seconds.day - 1,
      subject: role.subject(authority),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
      ] + role.extensions(authority) + [.mockMarker])
  }

  /// Makes the certificate name the revocation list at this address.
  mutating func nameList(at address: String) {
    certificate[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(
      uri: address)
  }

  /// The certificates of x5chain, leaf first, DER.
  func chain() throws -> [[UInt8]] {
    [finish(try certificate.signed(by: issuerKey))] + further
  }

  /// The value of x5chain: a byte string for one certificate, an array for several (RFC 9360).
  func x5chain() throws -> CBORValue {
    let chain = try chain()
    return chain.count == 1 ? .bytes(chain[0]) : .array(chain.map { .bytes($0) })
  }
}

extension MockSigner.Role {
  fileprivate var keyLabel: String {
    switch self {
    case .documents: "ds"
    case .statusLists: "status list signer"
    case .vicals: "vical signer"
    case .trustedEntityLists: "scheme operator/signer"
    case .reader(let dnsName): "reader/\(dnsName)"
    }
  }

  /// The number of days for which the certificate is valid.
  fileprivate var days: Int64 {
    switch self {
    case .documents: 400
    case .statusLists, .vicals, .trustedEntityLists: 1_000
    case .reader: 390
    }
  }

  fileprivate func subject(_ authority: MockAuthority) -> CertificateName {
    switch self {
    case .documents: authority.name("mdoc Mock Document Signer")
    case .statusLists: authority.name("mdoc Mock Status List Signer")
    case .vicals: authority.name("mdoc Mock VICAL Signer")
    case .trustedEntityLists: SchemeOperator.certificateName("mdoc Mock list signer")
    case .reader(let dnsName):
      CertificateName(
        country: authority.country, state: authority.stateOrProvince,
        organization: "mdoc Mock Relying Party",
        commonName: dnsName)
    }
  }

  /// The certificate's extensions besides its key identifiers and the mock's marker.
  fileprivate func extensions(_ authority: MockAuthority) -> [CertificateExtension] {
    let addresses = authority.addresses
    return switch self {
    case .documents:
      [
        .keyUsage(.digitalSignature),
        .issuerAltName(uri: addresses.authority),
        .crlDistributionPoint(uri: addresses.crl),
        .extendedKeyUsage([MockSigner.mDLKeyUsage, MockSigner.photoIDKeyUsage]),
      ]
    case .statusLists: [.keyUsage(.digitalSignature)]
    case .vicals:
      [
        .keyUsage(.nonRepudiation),
        .extendedKeyUsage(["1.0.18013.5.1.8"]),
        .crlDistributionPoint(uri: addresses.crl),
      ]
    case .trustedEntityLists:
      // id-tsl-kp-tslSigning (ETSI TS 119 612, 5.7.1).
      [.keyUsage(.digitalSignature), .extendedKeyUsage(["0.4.0.2231.3.0"])]
    case .reader(let dnsName):
      [
        .keyUsage(.digitalSignature),
        .subjectAltName(dnsName: dnsName),
        .crlDistributionPoint(uri: addresses.readerCRL),
        .extendedKeyUsage([MockSigner.readerKeyUsage]),
      ]
    }
  }
}

extension MockAuthority {
  /// DER of the document signer's certificate, unless a variant says otherwise. It changes once a month of `now`.
  ///
  /// - Parameter oid: an extension that it lacks.
  package func documentSigner(at now: Timestamp, without oid: String? = nil) throws -> [UInt8] {
    var signer = try MockSigner(authority: self, under: certificateIssuer(.good), at: now)
    if let oid { signer.certificate[oid: oid] = nil }
    return try signer.chain()[0]
  }

  /// The provider of mock VICALs, an authority of its own.
  ///
  /// - Parameter label: tells apart several providers of the same name.
  func vicalProvider(key label: String = "vical root") throws -> CertificateIssuer {
    CertificateIssuer(name: name("mdoc Mock VICAL Root"), key: try seed.key(label, on: issuerCurve))
  }

  /// The authority of the operator of mock lists of trusted entities.
  ///
  /// - Parameter label: tells apart several authorities of the same name.
  func schemeOperator(key label: String = "root") throws -> CertificateIssuer {
    CertificateIssuer(
      name: SchemeOperator.certificateName("mdoc Mock list operator root"),
      key: try seed.key("scheme operator/\(label)", on: issuerCurve))
  }

  /// DER of a root certificate. It changes once in ten years of `now`.
  func rootCertificate(of issuer: CertificateIssuer, at now: Timestamp) throws -> [UInt8] {
    let validity = AnchorKind.good.validity(at: now)
    return try rootTemplate(issuer, from: validity.from, until: validity.until).signed(
      by: issuer.key)
  }
}

/// The mock operator of a list of trusted entities.
enum SchemeOperator {
  static let name = "mdoc Mock Scheme Operator"
  static let territory = "EU"

  static func certificateName(_ commonName: String) -> CertificateName {
    CertificateName(country: territory, state: nil, organization: name, commonName: commonName)
  }
}

/// A mock relying party: its key for reader authentication and signed requests, and the certificates for it.
package struct MockReader: Sendable {
  /// P-256.
  package let key: PrivateKey
  /// DER, leaf first, without the root (ISO/IEC 18013-5:2021, 9.1.4.4).
  package let certificates: [[UInt8]]
  /// DER of the reader authority's own certificate, for wallets that authenticate readers.
  package let root: [UInt8]
  /// The leaf's dNSName.
  package let dnsName: String
}

extension MockAuthority {
  /// A reader. The certificate for a name is the same throughout a month of `now`.
  ///
  /// Its keys are on P-256, whatever the curve of the documents' issuer: signed requests are ES256 (HAIP 1.0, 7).
  package func reader(dnsName: String, at now: Timestamp) throws -> MockReader {
    let root = CertificateIssuer(
      name: name("mdoc Mock Reader Authority"), key: try seed.key("reader authority", on: .p256))
    let validity = AnchorKind.good.validity(at: now)
    var rootTemplate = rootTemplate(root, from: validity.from, until: validity.until)
    rootTemplate[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(
      uri: addresses.readerCRL)
    let signer = try MockSigner(
      .reader(dnsName: dnsName), authority: self, under: root, curve: .p256, at: now)
    return MockReader(
      key: signer.key, certificates: try signer.chain(),
      root: try rootTemplate.signed(by: root.key), dnsName: dnsName)
  }
}

/// Spans of time in seconds.
enum Seconds {
  static let hour: Int64 = 3_600
  static let day: Int64 = 86_400
}
