import Base
import COpenSSL
import Cryptography

/// An X.509 certificate (RFC 5280), parsed by OpenSSL, with the facts that mdoc's rules ask for.
public final class Certificate: Sendable {
  public let der: [UInt8]
  /// SHA-256 of the whole certificate.
  public let sha256: [UInt8]
  /// SHA-256 of the whole certificate, in hexadecimal.
  public let fingerprint: String
  public let subject: DistinguishedName
  public let issuer: DistinguishedName
  public let validity: ClosedRange<Timestamp>
  /// The content octets of its INTEGER without leading zeros. Numbers are compared in this form: an authority that
  /// forgets the zero octet in front still means the number that the octets give.
  public let serialNumber: [UInt8]
  /// Whether the serial number is below zero, which no profile allows.
  public let hasNegativeSerialNumber: Bool
  /// Nil if the key is not on one of the standard's named curves.
  public let publicKey: PublicKey?
  public let hasSupportedSignatureAlgorithm: Bool
  public let extensions: CertificateExtensions
  /// The certificate's signature; nil if its algorithm is not supported, or the certificate names two algorithms.
  private let signature: CertificateSignature?

  /// Parses exactly one DER certificate: no trailing bytes, every extension at most once and well-formed. A serial number
  /// that is negative, zero, short or long is a finding of the profile.
  public init(der: some Collection<UInt8>) throws(CertificateError) {
    let bytes = Array(der)
    guard bytes.count <= Limits.certificateBytes else { throw .tooLarge }
    defer { ERR_clear_error() }
    guard let x509 = parsedCertificate(bytes) else { throw .notDER }
    defer { X509_free(x509) }
    guard isDER(x509, bytes) else { throw .notDER }
    let facts = try CertificateFacts(x509)
    signature = CertificateSignature(x509, der: bytes)
    self.der = bytes
    sha256 = HashAlgorithm.sha256.hash(bytes)
    fingerprint = Hex.encode(sha256)
    subject = facts.subject
    issuer = facts.issuer
    validity = facts.validity
    serialNumber = facts.serialNumber
    hasNegativeSerialNumber = facts.hasNegativeSerialNumber
    publicKey = facts.publicKey
    hasSupportedSignatureAlgorithm = facts.hasSupportedSignatureAlgorithm
    extensions = facts.extensions
  }

  /// Whether issuer and subject have the same name (RFC 5280, 3.2). The issuer may still be another authority.
  public var isSelfIssued: Bool { subject.der == issuer.der }

  /// Whether it is a root: issuer and subject are the same, and its own key has signed it. If that signature can't be
  /// checked, because its algorithm is not supported, name and key identifiers decide.
  public var isSelfSigned: Bool { chainsByName(to: self) && (isSigned(by: self) || !isVerifiable(by: self)) }

  /// Whether it was made by the mock issuer.
  public var isMock: Bool { extensions.oids.contains(MockCertificateMarker.oid) }

  /// The DER of an extension's value; nil if the certificate lacks the extension. Parses the certificate again.
  package func value(ofExtension oid: String) -> [UInt8]? {
    guard extensions.oids.contains(oid), let x509 = parsedCertificate(der) else { return nil }
    defer { X509_free(x509) }
    for index in 0..<X509_get_ext_count(x509) {
      let entry = X509_get_ext(x509, index)
      if dottedIdentifier(X509_EXTENSION_get_object(entry)) == oid { return X509_EXTENSION_get_data(entry).map(octets) }
    }
    return nil
  }

  /// Whether this certificate's signature verifies with another's key. Names are not compared here.
  func isSigned(by issuer: Certificate) -> Bool {
    guard let key = issuer.publicKey, let signature else { return false }
    return signature.isValid(in: der, key: key)
  }
}

/// OpenSSL's form of exactly one certificate; the caller must free it.
func parsedCertificate(_ bytes: [UInt8]) -> OpaquePointer? {
  bytes.withUnsafeBufferPointer { buffer in
    var x509 = X509_new_ex(ParsingContext.library, nil)
    var position = buffer.baseAddress
    // On failure OpenSSL has freed the object that it was given.
    guard x509 != nil, d2i_X509(&x509, &position, buffer.count) != nil else { return nil }
    guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
      X509_free(x509)
      return nil
    }
    return x509
  }
}

/// Whether the bytes are the certificate's only encoding in DER. OpenSSL also reads BER, with long lengths and strings
/// in pieces outside the signed part, by which anyone could make countless trusted certificates out of one.
private func isDER(_ x509: OpaquePointer, _ bytes: [UInt8]) -> Bool {
  var output: UnsafeMutablePointer<UInt8>?
  let length = i2d_X509(x509, &output)
  guard length >= 0, let output else { return false }
  defer { CRYPTO_free(output, nil, 0) }
  return UnsafeBufferPointer(start: output, count: Int(length)).elementsEqual(bytes)
}

/// Why bytes are not a usable certificate.
public enum CertificateError: Error, Sendable, Hashable {
  case tooLarge
  /// Not exactly one certificate in DER.
  case notDER
  /// A name or a serial number that can't be read.
  case malformedField
  /// A date that does not exist, or an end before the beginning.
  case malformedValidity
  /// An extension that occurs more than once, by its dotted identifier.
  case repeatedExtension(String)
  case malformedExtension(String)

  /// The fault as text for people.
  public var detail: String {
    switch self {
    case .tooLarge: "is larger than \(Limits.certificateBytes) bytes"
    case .notDER: "is not valid DER"
    case .malformedField: "has a name or serial number that can't be read"
    case .malformedValidity: "has no dates of validity, or ends before it begins"
    case .repeatedExtension(let oid): "has an extension twice: \(CertificateExtensions.OID.name(oid))"
    case .malformedExtension(let oid): "has a malformed extension: \(CertificateExtensions.OID.name(oid))"
    }
  }
}

/// A name: its encoding, which is compared, and the attributes that mdoc's rules ask for.
public struct DistinguishedName: Sendable, Hashable {
  public let der: [UInt8]
  public let country: String?
  public let stateOrProvince: String?
  public let organization: String?
  public let organizationalUnit: String?
  public let commonName: String?
  /// UID, 0.9.2342.19200300.100.1.1 (RFC 4519, 2.39).
  public let userID: String?
  /// 2.5.4.97: a semantics identifier (ETSI EN 319 412-1, 5.1.4), such as `VATES-B12345678`.
  public let organizationIdentifier: String?
}

/// One of OpenSSL's library contexts, without algorithms, for parsing. In it OpenSSL does not decode a certificate's
/// key while parsing, which would cost ten times as much as all the rest and take locks. The key is imported in our own
/// way instead (`SubjectPublicKey`), and signatures are checked with it (`CertificateSignature`).
enum ParsingContext {
  // Written once, never freed; OpenSSL's library contexts may be used from any thread.
  nonisolated(unsafe) static let library: OpaquePointer? = {  // proof above
    let library = OSSL_LIB_CTX_new()
    // Without any provider OpenSSL would load the default one at the first use.
    return OSSL_PROVIDER_load(library, "null") == nil ? nil : library
  }()
}

/// The textual encoding of certificates (RFC 7468).
public enum PEM {
  /// The DER of every `CERTIFICATE` block, in order; nil if a block is not opened, not closed or not base64.
  public static func certificates(in text: String) -> [[UInt8]]? {
    var certificates: [[UInt8]] = []
    var base64: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.filter { !$0.isWhitespace || $0 == " " }
      switch (line.trimmingSuffix(" "), base64) {
      case ("-----BEGIN CERTIFICATE-----", nil): base64 = ""
      case ("-----END CERTIFICATE-----", let block?):
        guard let der = Base64.decode(block) else { return nil }
        certificates.append(der)
        base64 = nil
      case (let content, let block?): base64 = block + content
      // The block's beginning was not recognised (a byte order mark, a typing mistake). It must not be left out
      // quietly.
      case ("-----END CERTIFICATE-----", nil): return nil
      case (_, nil): continue
      }
    }
    return base64 == nil ? certificates : nil
  }

  public static func encode(certificate der: [UInt8]) -> String { encode(der, as: "CERTIFICATE") }

  /// The encoding of a certification request.
  package static func encode(request der: [UInt8]) -> String { encode(der, as: "CERTIFICATE REQUEST") }

  private static func encode(_ der: [UInt8], as label: String) -> String {
    let base64 = Array(Base64.encode(der).utf8)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = Substring(self)
    while text.last == character { text.removeLast() }
    return String(text)
  }
}
