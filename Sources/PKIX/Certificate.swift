import COpenSSL
import Cryptography
import Primitives

/// An X.509 certificate (RFC 5280), parsed by OpenSSL, with the facts that mdoc's rules ask for.
public final class Certificate: Sendable {
  public let der: [UInt8]
  /// SHA-256 of the whole certificate.
  public let sha256: [UInt8]
  /// The same in hexadecimal.
  public let fingerprint: String
  public let subject: DistinguishedName
  public let issuer: DistinguishedName
  public let validity: ClosedRange<Timestamp>
  public let serialNumber: [UInt8]
  /// Nil where the key is not on one of the standard's named curves.
  public let publicKey: PublicKey?
  public let hasSupportedSignatureAlgorithm: Bool
  public let extensions: CertificateExtensions
  /// Nil where it is not one of the supported algorithms, or said to be of two.
  private let signature: CertificateSignature?

  /// Parses exactly one DER certificate: no trailing bytes, a serial number that is not negative and has at most 20
  /// octets (zero is a finding of the profile), every extension at most once and well-formed.
  public init(der: some Collection<UInt8>) throws(CertificateError) {
    let bytes = Array(der)
    guard bytes.count <= Limits.certificateBytes else { throw .malformed }
    defer { ERR_clear_error() }
    guard let x509 = parsedCertificate(bytes) else { throw .malformed }
    defer { X509_free(x509) }
    guard isDER(x509, bytes), let facts = CertificateFacts(x509) else { throw .malformed }
    signature = CertificateSignature(x509, der: bytes)
    self.der = bytes
    sha256 = HashAlgorithm.sha256.hash(bytes)
    fingerprint = Hex.encode(sha256)
    subject = facts.subject
    issuer = facts.issuer
    validity = facts.validity
    serialNumber = facts.serialNumber
    publicKey = facts.publicKey
    hasSupportedSignatureAlgorithm = facts.hasSupportedSignatureAlgorithm
    extensions = facts.extensions
  }

  public var isSelfIssued: Bool { subject.der == issuer.der }

  /// Whether it was made by the mock issuer.
  public var isMock: Bool { extensions.oids.contains(MockCertificateMarker.oid) }

  /// Whether this certificate's signature verifies with another's key. Names are not compared here.
  func isSigned(by issuer: Certificate) -> Bool {
    guard let key = issuer.publicKey, let signature else { return false }
    return signature.isValid(in: der, key: key)
  }
}

/// OpenSSL's form of exactly one certificate, the caller's to free.
func parsedCertificate(_ bytes: [UInt8]) -> OpaquePointer? {
  bytes.withUnsafeBufferPointer { buffer in
    var x509 = X509_new_ex(ParsingContext.library, nil)
    var position = buffer.baseAddress
    // On failure it has freed what it was given.
    guard x509 != nil, d2i_X509(&x509, &position, buffer.count) != nil else { return nil }
    guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
      X509_free(x509)
      return nil
    }
    return x509
  }
}

/// Whether the certificate's encoding is the one that DER has for it. OpenSSL also reads BER: long lengths and strings in
/// pieces outside the signed part, so that anyone could make endlessly many trusted certificates out of one.
private func isDER(_ x509: OpaquePointer, _ bytes: [UInt8]) -> Bool {
  var output: UnsafeMutablePointer<UInt8>?
  let length = i2d_X509(x509, &output)
  guard length >= 0, let output else { return false }
  defer { CRYPTO_free(output, nil, 0) }
  return UnsafeBufferPointer(start: output, count: Int(length)).elementsEqual(bytes)
}

public enum CertificateError: Error, Sendable, Hashable {
  case malformed
}

/// A name by its encoding, which is what is compared, and the attributes that mdoc's rules ask for.
public struct DistinguishedName: Sendable, Hashable {
  public let der: [UInt8]
  public let country: String?
  public let stateOrProvince: String?
  public let organization: String?
  public let commonName: String?
}
