import COpenSSL

/// What a revocation list says: only a full one for all certificates of its issuer can say that one is good.
enum CRLContent {
  /// ISO/IEC 18013-5, B.10 has two extensions, AKI and number. An issuing distribution point makes a list partial, even
  /// where it only names an address, and is refused in every form.
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
    // Absent where nothing is revoked.
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
    var hasReason = false
    for index in 0..<X509_REVOKED_get_ext_count(entry) {
      guard let one = X509_REVOKED_get_ext(entry, index) else { throw .malformed }
      switch OBJ_obj2nid(X509_EXTENSION_get_object(one)) {
      case NID_crl_reason:
        guard !hasReason, let reason = reason(of: entry) else { throw .malformed }
        if reason == CRL_REASON_REMOVE_FROM_CRL { throw .removal }
        hasReason = true
      // The entries after it are of another issuer's certificates (RFC 5280, 5.3.3).
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

  /// Nil where it is not well-formed.
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
