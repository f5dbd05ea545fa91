import Base
import COpenSSL

/// A full certificate revocation list (RFC 5280, 5), signed by one authority and current at the time of verification.
public struct VerifiedCRL: Sendable {
  /// The authority whose key signed it. The list does not concern other authorities' certificates.
  public let issuer: Certificate
  public let thisUpdate: Timestamp
  public let nextUpdate: Timestamp
  private let serialNumbers: Set<[UInt8]>

  /// Verifies a list by ISO/IEC 18013-5, B.3.2 and RFC 5280, 6.3.3.
  ///
  /// - Parameters:
  ///   - bytes: DER, or PEM with exactly one list.
  ///   - issuer: the trusted certificate of the authority that issued the certificates in question.
  ///   - now: compared to the second: no clock skew extends a list's lifetime.
  public init(verifying bytes: [UInt8], issuer: Certificate, at now: Timestamp) throws(CRLError) {
    defer { ERR_clear_error() }
    let (crl, der) = try CRLEncoding.parse(bytes)
    defer { X509_CRL_free(crl) }
    guard X509_CRL_get_version(crl) == X509_CRL_VERSION_2 else { throw .versionUnsupported }
    try Self.checkIssuer(of: crl, der: der, issuer: issuer)
    (thisUpdate, nextUpdate) = try Self.dates(of: crl, at: now)
    try Self.checkExtensions(of: crl)
    serialNumbers = try Self.serialNumbers(of: crl)
    self.issuer = issuer
  }

  /// The number of listed certificates.
  public var count: Int { serialNumbers.count }

  /// The approximate memory in bytes: an array and a slot in the set for each number.
  public var keptBytes: Int { count * 96 }

  /// True if the number, in the form of `Certificate.serialNumber`, is listed. Certificates on hold are listed too.
  public func contains(serial: [UInt8]) -> Bool { serialNumbers.contains(serial) }
}

extension VerifiedCRL {
  /// Checks the list's issuer and signature (ISO/IEC 18013-5, B.3.2; RFC 5280, 6.3.3 (b), (f), (g)).
  private static func checkIssuer(of crl: OpaquePointer, der: [UInt8], issuer: Certificate) throws(CRLError) {
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

  private static func dates(of crl: OpaquePointer, at now: Timestamp) throws(CRLError) -> (
    this: Timestamp, next: Timestamp
  ) {
    guard let thisUpdate = timestamp(X509_CRL_get0_lastUpdate(crl)) else { throw .malformed }
    guard let end = X509_CRL_get0_nextUpdate(crl) else { throw .withoutNextUpdate }
    guard let nextUpdate = timestamp(end), thisUpdate <= nextUpdate else { throw .malformed }
    guard thisUpdate <= now else { throw .issuedInFuture(thisUpdate) }
    guard now <= nextUpdate else { throw .expired(nextUpdate) }
    return (thisUpdate, nextUpdate)
  }

  /// The identifier; nil if the extension or its identifier is absent.
  private static func authorityKeyIdentifier(of crl: OpaquePointer) throws(CRLError) -> [UInt8]? {
    guard X509_CRL_get_ext_by_NID(crl, NID_authority_key_identifier, -1) >= 0 else { return nil }
    guard let raw = X509_CRL_get_ext_d2i(crl, NID_authority_key_identifier, nil, nil) else { throw .malformed }
    let identifier = raw.assumingMemoryBound(to: AUTHORITY_KEYID.self)
    defer { AUTHORITY_KEYID_free(identifier) }
    return identifier.pointee.keyid.map(octets)
  }

  // MARK: Content: only a full list of its issuer can say that a certificate is good.

  /// ISO/IEC 18013-5, B.10 allows two extensions: AKI and number. An issuing distribution point makes a list partial.
  /// It is refused even if it contains only an address.
  private static func checkExtensions(of crl: OpaquePointer) throws(CRLError) {
    var identifiers: Set<Int32> = []
    for index in 0..<X509_CRL_get_ext_count(crl) {
      guard let entry = X509_CRL_get_ext(crl, index) else { throw .malformed }
      let identifier = OBJ_obj2nid(X509_EXTENSION_get_object(entry))
      guard identifier == NID_undef || identifiers.insert(identifier).inserted else { throw .malformed }
      switch identifier {
      case NID_authority_key_identifier, NID_crl_number: continue
      case NID_delta_crl: throw .delta
      case NID_issuing_distribution_point: throw isIndirect(crl) ? .indirect : .scoped
      default: try refuseCritical(entry)
      }
    }
  }

  /// Every listed number, in the form of `Certificate.serialNumber`.
  private static func serialNumbers(of crl: OpaquePointer) throws(CRLError) -> Set<[UInt8]> {
    // The list has no entries if nothing is revoked.
    guard let entries = X509_CRL_get_REVOKED(crl) else { return [] }
    let count = OPENSSL_sk_num(entries)
    var numbers = Set<[UInt8]>(minimumCapacity: Int(count))
    for index in 0..<count {
      guard let raw = OPENSSL_sk_value(entries, index) else { throw .malformed }
      let entry = OpaquePointer(raw)
      guard let serial = X509_REVOKED_get0_serialNumber(entry), let number = serialNumberOctets(serial) else {
        throw .malformed
      }
      try checkExtensions(ofEntry: entry)
      numbers.insert(number)
    }
    return numbers
  }

  private static func checkExtensions(ofEntry entry: OpaquePointer) throws(CRLError) {
    for index in 0..<X509_REVOKED_get_ext_count(entry) {
      guard let one = X509_REVOKED_get_ext(entry, index) else { throw .malformed }
      switch OBJ_obj2nid(X509_EXTENSION_get_object(one)) {
      case NID_crl_reason:
        guard let reason = reason(of: entry) else { throw .malformed }
        if reason == CRL_REASON_REMOVE_FROM_CRL { throw .removal }
      // After this extension, the entries concern another issuer's certificates (RFC 5280, 5.3.3).
      case NID_certificate_issuer: throw .indirect
      default: try refuseCritical(one)
      }
    }
  }

  private static func refuseCritical(_ entry: OpaquePointer) throws(CRLError) {
    if X509_EXTENSION_get_critical(entry) != 0 {
      throw .criticalExtension(dottedIdentifier(X509_EXTENSION_get_object(entry)) ?? "")
    }
  }

  /// The reason code; nil if it is malformed or duplicate.
  private static func reason(of entry: OpaquePointer) -> Int32? {
    guard let raw = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return nil }
    let reason = raw.assumingMemoryBound(to: ASN1_ENUMERATED.self)
    defer { ASN1_ENUMERATED_free(reason) }
    return Int32(exactly: ASN1_ENUMERATED_get(reason))
  }

  private static func isIndirect(_ crl: OpaquePointer) -> Bool {
    guard let raw = X509_CRL_get_ext_d2i(crl, NID_issuing_distribution_point, nil, nil) else { return false }
    let point = raw.assumingMemoryBound(to: ISSUING_DIST_POINT.self)
    defer { ISSUING_DIST_POINT_free(point) }
    return point.pointee.indirectCRL != 0
  }
}

/// The reason why a revocation list cannot be used. Such a list proves nothing about any certificate, neither good nor
/// revoked.
public struct CRLError: Error, Sendable, Hashable {
  /// The detail of the finding `revocation.crl_invalid`.
  public let detail: String

  private init(_ detail: String) { self.detail = detail }

  public static let tooLarge = CRLError("larger than \(Limits.listBytes) bytes")
  public static let malformed = CRLError("not one well-formed list in DER or PEM")
  public static let versionUnsupported = CRLError("not of version 2")
  public static let otherIssuer = CRLError("the issuer name is not the authority's")
  public static let otherKey = CRLError("the authority key identifier is not the authority's")
  public static let issuerMayNotSign = CRLError("the authority's key usage does not allow signing lists")
  public static let algorithmUnsupported = CRLError(
    "unsupported signature algorithm or key, or two different algorithm identifiers")
  public static let signatureInvalid = CRLError("the signature does not verify with the authority's key")
  public static let withoutNextUpdate = CRLError("lacks the time of the next update")
  public static let delta = CRLError("a delta list")
  public static let scoped = CRLError("restricted by an issuing distribution point")
  public static let indirect = CRLError("an indirect list")
  public static let removal = CRLError("an entry has the reason removeFromCRL, which is for delta lists only")

  public static func issuedInFuture(_ time: Timestamp) -> CRLError { CRLError("dated in the future, \(time)") }

  public static func expired(_ time: Timestamp) -> CRLError { CRLError("expired: the next update was due at \(time)") }

  public static func criticalExtension(_ oid: String) -> CRLError {
    CRLError("an unknown critical extension, \(oid)")
  }
}

/// The unverified content of a revocation list, for display. Only `VerifiedCRL` is for decisions.
public struct UnverifiedCRL: Sendable {
  public let issuer: DistinguishedName
  public let thisUpdate: Timestamp
  /// The time when the next list is due; nil if unspecified.
  public let nextUpdate: Timestamp?
  /// The content octets of the listed numbers, in the list's order.
  public let serialNumbers: [[UInt8]]

  /// - Throws: `tooLarge`, or `malformed` for bytes that are not a list in DER or PEM.
  public init(parsing bytes: [UInt8]) throws(CRLError) {
    defer { ERR_clear_error() }
    let (crl, _) = try CRLEncoding.parse(bytes)
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
      OPENSSL_sk_value(entries, index).flatMap { X509_REVOKED_get0_serialNumber(OpaquePointer($0)) }
        .flatMap(serialNumberOctets)
    }
  }
}

enum CRLEncoding {
  /// The bytes themselves if they begin like DER. Otherwise the content of the only PEM block, if that block is a list.
  private static func der(of bytes: [UInt8]) -> [UInt8]? {
    if bytes.first == 0x30 { return bytes }
    return bytes.withUnsafeBufferPointer { buffer in
      guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
      defer { BIO_free(bio) }
      guard let block = nextBlock(bio), block.label == "X509 CRL", nextBlock(bio) == nil else { return nil }
      return block.content
    }
  }

  /// OpenSSL's representation of the only list, which the caller must free, and the list's DER.
  static func parse(_ bytes: [UInt8]) throws(CRLError) -> (crl: OpaquePointer, der: [UInt8]) {
    guard bytes.count <= Limits.listBytes else { throw .tooLarge }
    guard let der = der(of: bytes),
      let crl = parsed(der, into: X509_CRL_new_ex(ParsingContext.library, nil), d2i_X509_CRL, X509_CRL_free)
    else { throw .malformed }
    guard isEncoding(der, of: crl, i2d_X509_CRL) else {
      X509_CRL_free(crl)
      throw .malformed
    }
    return (crl, der)
  }

  /// The next PEM block without headers (RFC 7468).
  private static func nextBlock(_ bio: OpaquePointer) -> (label: String, content: [UInt8])? {
    var label: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var content: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(bio, &label, &header, &content, &length) == 1, let label, let header, let content else {
      return nil
    }
    defer {
      CRYPTO_free(label, nil, 0)
      CRYPTO_free(header, nil, 0)
      CRYPTO_free(content, nil, 0)
    }
    guard header.pointee == 0 else { return nil }
    return (String(cString: label), Array(UnsafeBufferPointer(start: content, count: length)))
  }
}
