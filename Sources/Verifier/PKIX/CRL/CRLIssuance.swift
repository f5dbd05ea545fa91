import Base
import COpenSSL

/// Who issued a revocation list, and when.
enum CRLIssuance {
  /// By the same authority as the certificate in question, and signed by it (ISO/IEC 18013-5, B.3.2; RFC 5280, 6.3.3
  /// (b), (f), (g)).
  static func check(_ crl: OpaquePointer, der: [UInt8], issuer: Certificate) throws(CRLError) {
    guard distinguishedName(X509_CRL_get_issuer(crl))?.der == issuer.subject.der else { throw .otherIssuer }
    if let authority = try authorityKeyIdentifier(of: crl), let subject = issuer.extensions.subjectKeyIdentifier {
      guard authority == subject else { throw .otherKey }
    }
    guard issuer.extensions.keyUsage?.contains(.cRLSign) == true else { throw .issuerMayNotSign }
    guard let key = issuer.publicKey, let signature = CertificateSignature(crl: crl, der: der) else {
      throw .algorithmUnsupported
    }
    guard signature.isValid(in: der, key: key) else { throw .signatureInvalid }
  }

  static func dates(of crl: OpaquePointer, at now: Timestamp) throws(CRLError) -> (this: Timestamp, next: Timestamp) {
    guard let thisUpdate = timestamp(X509_CRL_get0_lastUpdate(crl)) else { throw .malformed }
    guard let end = X509_CRL_get0_nextUpdate(crl) else { throw .withoutNextUpdate }
    guard let nextUpdate = timestamp(end), thisUpdate <= nextUpdate else { throw .malformed }
    guard thisUpdate <= now else { throw .issuedInFuture(thisUpdate) }
    guard now <= nextUpdate else { throw .expired(nextUpdate) }
    return (thisUpdate, nextUpdate)
  }

  /// Nil where the extension, or the identifier in it, is absent.
  private static func authorityKeyIdentifier(of crl: OpaquePointer) throws(CRLError) -> [UInt8]? {
    guard X509_CRL_get_ext_by_NID(crl, NID_authority_key_identifier, -1) >= 0 else { return nil }
    guard let raw = X509_CRL_get_ext_d2i(crl, NID_authority_key_identifier, nil, nil) else { throw .malformed }
    let identifier = raw.assumingMemoryBound(to: AUTHORITY_KEYID.self)
    defer { AUTHORITY_KEYID_free(identifier) }
    return identifier.pointee.keyid.map(octets)
  }
}
