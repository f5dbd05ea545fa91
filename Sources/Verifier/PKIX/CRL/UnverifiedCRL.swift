import Base
import COpenSSL

/// What a revocation list says of itself, nothing of it verified: to look at, never to decide by. `VerifiedCRL` decides.
public struct UnverifiedCRL: Sendable {
  public let issuer: DistinguishedName
  public let thisUpdate: Timestamp
  /// Nil where the list does not say when the next one comes.
  public let nextUpdate: Timestamp?
  /// The content octets of the listed numbers, in the list's order.
  public let serialNumbers: [[UInt8]]

  /// - Throws: `tooLarge` or `malformed`, for what is no list in DER or PEM.
  public init(parsing bytes: [UInt8]) throws(CRLError) {
    guard bytes.count <= Limits.listBytes else { throw .tooLarge }
    defer { ERR_clear_error() }
    guard let der = CRLEncoding.der(of: bytes), let crl = CRLEncoding.parse(der) else { throw .malformed }
    defer { X509_CRL_free(crl) }
    guard let issuer = distinguishedName(X509_CRL_get_issuer(crl)),
      let thisUpdate = timestamp(X509_CRL_get0_lastUpdate(crl))
    else { throw .malformed }
    self.issuer = issuer
    self.thisUpdate = thisUpdate
    nextUpdate = timestamp(X509_CRL_get0_nextUpdate(crl))
    serialNumbers = Self.numbers(in: crl)
  }

  private static func numbers(in crl: OpaquePointer) -> [[UInt8]] {
    guard let entries = X509_CRL_get_REVOKED(crl) else { return [] }
    return (0..<OPENSSL_sk_num(entries)).compactMap { index in
      OPENSSL_sk_value(entries, index).flatMap { X509_REVOKED_get0_serialNumber(OpaquePointer($0)) }.flatMap(
        serialNumberOctets)
    }
  }
}
