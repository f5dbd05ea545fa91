import Base
import COpenSSL

/// A certificate revocation list (RFC 5280, 5) that one authority signed, that is full, and that was current when it was
/// verified. There is no other way to have one: an unverified list answers nothing.
public struct VerifiedCRL: Sendable {
  /// The authority whose key signed it; it says nothing of certificates that others issued.
  public let issuer: Certificate
  public let thisUpdate: Timestamp
  public let nextUpdate: Timestamp
  private let serialNumbers: Set<[UInt8]>

  /// Verifies a list by ISO/IEC 18013-5, B.3.2 and RFC 5280, 6.3.3.
  ///
  /// - Parameters:
  ///   - bytes: DER, or PEM with exactly one list.
  ///   - issuer: the trusted certificate of the authority that issued the certificates in question.
  ///   - now: compared to the second; no allowance for clocks lets a list live longer.
  public init(verifying bytes: [UInt8], issuer: Certificate, at now: Timestamp) throws(CRLError) {
    guard bytes.count <= Limits.listBytes else { throw .tooLarge }
    defer { ERR_clear_error() }
    guard let der = CRLEncoding.der(of: bytes), let crl = CRLEncoding.parse(der) else { throw .malformed }
    defer { X509_CRL_free(crl) }
    guard X509_CRL_get_version(crl) == X509_CRL_VERSION_2 else { throw .versionUnsupported }
    try CRLIssuance.check(crl, der: der, issuer: issuer)
    (thisUpdate, nextUpdate) = try CRLIssuance.dates(of: crl, at: now)
    try CRLContent.checkExtensions(of: crl)
    serialNumbers = try CRLContent.serialNumbers(of: crl)
    self.issuer = issuer
  }

  /// How many certificates it lists.
  public var count: Int { serialNumbers.count }

  /// About how many bytes of memory it takes while it is kept: for each number an array of its own, and its place in the
  /// set.
  public var keptBytes: Int { count * 96 }

  /// Whether it still speaks for this time. A list that is kept is asked again before each use.
  public func isCurrent(at now: Timestamp) -> Bool { (thisUpdate...nextUpdate).contains(now) }

  /// Whether the number is listed, compared as the content octets of its INTEGER without leading zeros, which is the
  /// form of `Certificate.serialNumber`. A certificate on hold is listed, too.
  public func contains(serial: [UInt8]) -> Bool { serialNumbers.contains(serial) }
}
