import Base
import CBOR
import Cryptography

/// A signer: its key, every field of its certificate, and the rest of the chain.
struct MockSigner: Sendable {
  static let mDLKeyUsage = "1.0.18013.5.1.2"
  static let readerKeyUsage = "1.0.18013.5.1.6"

  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// The intermediate certificate between the signer's certificate and the anchor, and the key that signs it.
  var intermediate: (template: CertificateTemplate, key: PrivateKey)?
  /// The certificates in x5chain after the signer's and the intermediate certificate, DER.
  var further: [[UInt8]] = []
  /// Changes the finished DER of the signer's certificate.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// Makes a signer whose validity starts on the first day of a month. The signer changes only once a month as `now`
  /// advances.
  ///
  /// - Parameter curve: the key's curve; nil for the authority's curve.
  init(
    _ role: Role = .documents, authority: MockAuthority, under issuer: CertificateIssuer,
    curve: Curve? = nil, at now: Timestamp
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
      ] + role.extensions(authority.addresses) + [.mockMarker])
  }

  /// The certificates of x5chain, leaf first, DER.
  func chain() throws -> [[UInt8]] {
    let issuer = try intermediate.map { [try $0.template.signed(by: $0.key)] } ?? []
    return [finish(try certificate.signed(by: issuerKey))] + issuer + further
  }

  /// True if both signers have the same key and the same certificates.
  func isCertified(like other: MockSigner) throws -> Bool {
    try key.publicKey.encoded == other.key.publicKey.encoded && chain() == other.chain()
      && certificate.signed(by: issuerKey) == other.certificate.signed(by: other.issuerKey)
  }

  /// x5chain: a byte string for one certificate, an array for several (RFC 9360).
  func x5chain() throws -> CBORValue {
    let chain = try chain()
    return chain.count == 1 ? .bytes(chain[0]) : .array(chain.map { .bytes($0) })
  }
}

extension MockSigner {
  /// The certified purpose of a signer.
  struct Role: Sendable {
    let keyLabel: String
    /// The certificate's validity in days.
    let days: Int64
    let subject: @Sendable (MockAuthority) -> CertificateName
    /// The certificate's extensions, in addition to its key identifiers and the mock's marker.
    let extensions: @Sendable (MockAddresses) -> [CertificateExtension]

    /// Signs documents (ISO/IEC 18013-5, B.1.4).
    static let documents = Role(keyLabel: "ds", days: 400, subject: { $0.name("mdoc Mock Document Signer") }) {
      [
        .keyUsage(.digitalSignature), .issuerAltName(uri: $0.authority), .crlDistributionPoint(uri: $0.crl),
        .extendedKeyUsage([mDLKeyUsage]),
      ]
    }
    /// Signs status lists and identifier lists (ISO/IEC 18013-5, second edition, B.9).
    static let statusLists = Role(
      keyLabel: "status list signer", days: 1_000, subject: { $0.name("mdoc Mock Status List Signer") }
    ) { _ in [.keyUsage(.digitalSignature)] }
    /// Signs VICALs (ISO/IEC 18013-5, C.1).
    static let vicals = Role(keyLabel: "vical signer", days: 1_000, subject: { $0.name("mdoc Mock VICAL Signer") }) {
      [.keyUsage(.nonRepudiation), .extendedKeyUsage(["1.0.18013.5.1.8"]), .crlDistributionPoint(uri: $0.crl)]
    }
    /// Signs lists of trusted entities (ETSI TS 119 602), with id-tsl-kp-tslSigning (ETSI TS 119 612, 5.7.1).
    static let trustedEntityLists = Role(
      keyLabel: "scheme operator/signer", days: 1_000,
      subject: { _ in SchemeOperator.certificateName("mdoc Mock list signer") }
    ) { _ in [.keyUsage(.digitalSignature), .extendedKeyUsage(["0.4.0.2231.3.0"])] }

    /// Signs a relying party's requests (ISO/IEC 18013-5:2021, B.1.7).
    static func reader(dnsName: String) -> Role {
      Role(
        keyLabel: "reader/\(dnsName)", days: 390,
        subject: {
          CertificateName(
            country: $0.country, state: $0.stateOrProvince, organization: "mdoc Mock Relying Party",
            commonName: dnsName)
        }
      ) {
        [
          .keyUsage(.digitalSignature), .subjectAltName(dnsName: dnsName), .crlDistributionPoint(uri: $0.readerCRL),
          .extendedKeyUsage([readerKeyUsage]),
        ]
      }
    }
  }
}

extension MockAuthority {
  /// DER of the document signer's certificate. It changes once a month as `now` advances.
  ///
  /// - Parameter oid: an extension to omit from the certificate.
  package func documentSigner(at now: Timestamp, without oid: String? = nil) throws -> [UInt8] {
    var signer = try MockSigner(authority: self, under: certificateIssuer(.good), at: now)
    if let oid { signer.certificate[oid: oid] = nil }
    return try signer.chain()[0]
  }

  /// The provider of mock VICALs.
  ///
  /// - Parameter label: the key's label, different for each provider of the same name.
  func vicalProvider(key label: String = "vical root") throws -> CertificateIssuer {
    try issuer("mdoc Mock VICAL Root", key: label)
  }

  /// The operator of mock lists of trusted entities.
  ///
  /// - Parameter label: the key's label, different for each authority of the same name.
  func schemeOperator(key label: String = "root") throws -> CertificateIssuer {
    CertificateIssuer(
      name: SchemeOperator.certificateName("mdoc Mock list operator root"),
      key: try seed.key("scheme operator/\(label)", on: issuerCurve))
  }

  /// DER of a root certificate. It changes once every ten years as `now` advances.
  func rootCertificate(of issuer: CertificateIssuer, at now: Timestamp) throws -> [UInt8] {
    try rootTemplate(issuer, AnchorKind.good.validity(at: now)).signed(by: issuer.key)
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

/// A mock relying party's key for reader authentication and signed requests, with its certificates.
package struct MockReader: Sendable {
  /// P-256.
  package let key: PrivateKey
  /// DER, leaf first, without the root (ISO/IEC 18013-5:2021, 9.1.4.4).
  package let certificates: [[UInt8]]
  /// DER of the reader authority's certificate.
  package let root: [UInt8]
  /// The leaf's dNSName.
  package let dnsName: String
}

extension MockAuthority {
  /// Makes a reader. Its certificate changes once a month as `now` advances.
  ///
  /// Its keys are always on P-256, since signed requests use ES256 (HAIP 1.0, 7).
  package func reader(dnsName: String, at now: Timestamp) throws -> MockReader {
    let root = CertificateIssuer(
      name: name("mdoc Mock Reader Authority"), key: try seed.key("reader authority", on: .p256))
    var rootTemplate = rootTemplate(root, AnchorKind.good.validity(at: now))
    rootTemplate.nameList(at: addresses.readerCRL)
    let signer = try MockSigner(.reader(dnsName: dnsName), authority: self, under: root, curve: .p256, at: now)
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
