import Base
import COpenSSL

/// A full certificate revocation list (RFC 5280, 5) that one authority signed, and that was current when it was
/// verified. There is no other way to get one: an unverified list answers nothing.
public struct VerifiedCRL: Sendable {
  /// The authority whose key signed it. It says nothing of certificates that other authorities issued.
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

  /// The number of certificates that it lists.
  public var count: Int { serialNumbers.count }

  /// About how many bytes of memory it takes while it is kept: for each number an array of its own, and its place in the
  /// set.
  public var keptBytes: Int { count * 96 }

  /// Whether the list is current at this time. A list that is kept is checked again before each use.
  public func isCurrent(at now: Timestamp) -> Bool { (thisUpdate...nextUpdate).contains(now) }

  /// Whether the number is listed, compared as the content octets of its INTEGER without leading zeros, which is the
  /// form of `Certificate.serialNumber`. A certificate on hold is listed, too.
  public func contains(serial: [UInt8]) -> Bool { serialNumbers.contains(serial) }
}

/// Who issued a revocation list, and when.
enum CRLIssuance {
  /// Checks that the list has the same issuer as the certificate in question, and is signed by it (ISO/IEC 18013-5,
  /// B.3.2; RFC 5280, 6.3.3 (b), (f), (g)).
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

  /// The identifier; nil if the extension, or the identifier in it, is absent.
  private static func authorityKeyIdentifier(of crl: OpaquePointer) throws(CRLError) -> [UInt8]? {
    guard X509_CRL_get_ext_by_NID(crl, NID_authority_key_identifier, -1) >= 0 else { return nil }
    guard let raw = X509_CRL_get_ext_d2i(crl, NID_authority_key_identifier, nil, nil) else { throw .malformed }
    let identifier = raw.assumingMemoryBound(to: AUTHORITY_KEYID.self)
    defer { AUTHORITY_KEYID_free(identifier) }
    return identifier.pointee.keyid.map(octets)
  }
}

/// The content of a revocation list. Only a full list, for all certificates of its issuer, can say that one is good.
enum CRLContent {
  /// ISO/IEC 18013-5, B.10 has two extensions, AKI and number. An issuing distribution point makes a list partial, even
  /// if it only names an address, and is refused in every form.
  static func checkExtensions(of crl: OpaquePointer) throws(CRLError) {
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

  /// The octets of every listed number, in the form of `Certificate.serialNumber`.
  static func serialNumbers(of crl: OpaquePointer) throws(CRLError) -> Set<[UInt8]> {
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
      // This extension says that the entries after it are about another issuer's certificates (RFC 5280, 5.3.3).
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

  /// The reason code; nil if it is not well-formed, or stands twice.
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

/// Why a revocation list cannot be used. Nothing then follows about any certificate, neither good nor revoked.
public enum CRLError: Error, Sendable, Hashable {
  case tooLarge, malformed, versionUnsupported
  /// Another name or another key identifier than the authority's.
  case otherIssuer, otherKey
  /// The authority's certificate does not say that its key may sign lists.
  case issuerMayNotSign
  case algorithmUnsupported, signatureInvalid
  case issuedInFuture(Timestamp)
  case withoutNextUpdate
  case expired(Timestamp)
  /// A list of changes, a list of only some certificates or reasons, or one of other issuers' certificates.
  case delta, scoped, indirect
  case criticalExtension(String)
  /// An entry that takes back another entry, which has no place in a full list.
  case removal

  /// For people; it stands in the finding `revocation.crl_invalid`.
  public var detail: String {
    switch self {
    case .tooLarge: "larger than \(Limits.listBytes) bytes"
    case .malformed: "not one well-formed list in DER or PEM"
    case .versionUnsupported: "not of version 2"
    case .otherIssuer: "issued under another name than the authority's"
    case .otherKey: "for another key than the authority's, by its authority key identifier"
    case .issuerMayNotSign: "the authority's key usage does not allow signing lists"
    case .algorithmUnsupported: "signed with an algorithm that is not one of the standard's, or names two"
    case .signatureInvalid: "the signature does not verify with the authority's key"
    case .issuedInFuture(let time): "dated in the future, \(time)"
    case .withoutNextUpdate: "without the time of the next update"
    case .expired(let time): "the next update was due at \(time)"
    case .delta: "a delta list"
    case .scoped: "restricted by an issuing distribution point"
    case .indirect: "an indirect list"
    case .criticalExtension(let oid): "a critical extension that is not understood, \(oid)"
    case .removal: "an entry with the reason removeFromCRL, which only delta lists have"
    }
  }
}
