import COpenSSL

/// The extensions of a certificate that mdoc's profiles mention.
public struct CertificateExtensions: Sendable {
  /// The dotted identifiers of all extensions, and of the critical extensions.
  public let oids: Set<String>
  public let critical: Set<String>
  public let isCA: Bool
  /// The path length of basicConstraints; nil if there is no limit.
  public let pathLength: Int?
  /// The key usages; nil if the extension is absent.
  public let keyUsage: KeyUsage?
  /// Dotted identifiers; nil if the extension is absent.
  public let extendedKeyUsage: [String]?
  public let subjectKeyIdentifier: [UInt8]?
  public let authorityKeyIdentifier: [UInt8]?
  /// The addresses of the issuer's revocation list; nil if the extension is absent.
  public let crlDistributionPoints: CRLDistributionPoints?

  /// The URIs of the CRL distribution points that can be used.
  public var crlURIs: [String] { crlDistributionPoints?.uris ?? [] }

  public struct KeyUsage: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let digitalSignature = KeyUsage(rawValue: 0x80)
    public static let nonRepudiation = KeyUsage(rawValue: 0x40)
    public static let keyCertSign = KeyUsage(rawValue: 0x04)
    public static let cRLSign = KeyUsage(rawValue: 0x02)
  }

  enum OID {
    static let subjectKeyIdentifier = "2.5.29.14"
    static let keyUsage = "2.5.29.15"
    static let subjectAltName = "2.5.29.17"
    static let issuerAltName = "2.5.29.18"
    static let basicConstraints = "2.5.29.19"
    static let nameConstraints = "2.5.29.30"
    static let crlDistributionPoints = "2.5.29.31"
    static let certificatePolicies = "2.5.29.32"
    static let policyMappings = "2.5.29.33"
    static let authorityKeyIdentifier = "2.5.29.35"
    static let policyConstraints = "2.5.29.36"
    static let extendedKeyUsage = "2.5.29.37"
    static let anyExtendedKeyUsage = "2.5.29.37.0"
    static let freshestCRL = "2.5.29.46"
    static let inhibitAnyPolicy = "2.5.29.54"
  }

  /// Extensions that may be critical, since they are processed here.
  static let processed: Set<String> = [
    OID.subjectKeyIdentifier, OID.keyUsage, OID.issuerAltName, OID.basicConstraints, OID.crlDistributionPoints,
    OID.authorityKeyIdentifier, OID.extendedKeyUsage,
  ]

  /// Extensions that restrict the certificates below, and are not processed here (RFC 5280, 6.1.4 (a)–(b), (g)–(j)).
  static let constraints: Set<String> = [
    OID.policyMappings, OID.nameConstraints, OID.policyConstraints, OID.inhibitAnyPolicy,
  ]

  static let forbidden = constraints.union([OID.freshestCRL])

  /// - Throws: `CertificateError` if an extension is duplicate or malformed.
  init(_ x509: OpaquePointer) throws(CertificateError) {
    var oids: Set<String> = []
    var critical: Set<String> = []
    for index in 0..<X509_get_ext_count(x509) {
      guard let entry = X509_get_ext(x509, index), let oid = dottedIdentifier(X509_EXTENSION_get_object(entry)) else {
        throw .malformedExtension("")
      }
      guard oids.insert(oid).inserted else { throw .repeatedExtension(oid) }
      if X509_EXTENSION_get_critical(entry) != 0 { critical.insert(oid) }
    }

    var flags = Self.flags(of: x509)
    if flags & Int64(EXFLAG_INVALID) != 0, let rest = Self.withoutListAddresses(x509) {
      // OpenSSL stops reading extensions when it considers a certificate invalid.
      defer { X509_free(rest) }
      flags = Self.flags(of: rest)
      if flags & Int64(EXFLAG_INVALID) == 0 {
        self.init(rest, flags: flags, oids: oids, critical: critical)
        return
      }
    }
    guard flags & Int64(EXFLAG_INVALID) == 0 else { throw .malformedExtension(Self.malformed(x509)) }
    self.init(x509, flags: flags, oids: oids, critical: critical)
  }

  private init(_ x509: OpaquePointer, flags: Int64, oids: Set<String>, critical: Set<String>) {
    self.oids = oids
    self.critical = critical
    isCA = flags & Int64(EXFLAG_CA) != 0 && oids.contains(OID.basicConstraints)
    let length = X509_get_pathlen(x509)
    pathLength = length >= 0 ? length : nil
    keyUsage = oids.contains(OID.keyUsage) ? KeyUsage(rawValue: X509_get_key_usage(x509)) : nil
    subjectKeyIdentifier = X509_get0_subject_key_id(x509).map(octets)
    authorityKeyIdentifier = X509_get0_authority_key_id(x509).map(octets)
    extendedKeyUsage = oids.contains(OID.extendedKeyUsage) ? CertificateExtensions.purposes(x509) : nil
    crlDistributionPoints = oids.contains(OID.crlDistributionPoints) ? CRLDistributionPoints(x509) : nil
  }

  /// Makes OpenSSL read the standard extensions, and flag those that it cannot read.
  private static func flags(of x509: OpaquePointer) -> Int64 {
    X509_check_purpose(x509, -1, 0)
    return Int64(X509_get_extension_flags(x509))
  }

  /// A copy without cRLDistributionPoints, which the caller must free; nil if the extension is absent or critical. A
  /// malformed extension leaves the status undetermined. The rest of the certificate remains valid (RFC 5280, 4.2).
  private static func withoutListAddresses(_ x509: OpaquePointer) -> OpaquePointer? {
    let index = X509_get_ext_by_NID(x509, NID_crl_distribution_points, -1)
    guard index >= 0, X509_EXTENSION_get_critical(X509_get_ext(x509, index)) == 0, let copy = X509_dup(x509) else {
      return nil
    }
    X509_EXTENSION_free(X509_delete_ext(copy, index))
    return copy
  }

  private static func malformed(_ x509: OpaquePointer) -> String {
    for index in 0..<X509_get_ext_count(x509) {
      guard let entry = X509_get_ext(x509, index), let item = X509V3_EXT_get(entry)?.pointee.it?() else { continue }
      guard let value = X509V3_EXT_d2i(entry) else { return dottedIdentifier(X509_EXTENSION_get_object(entry)) ?? "" }
      ASN1_item_free(OpaquePointer(value), item)
    }
    // The extension contradicts itself: its path length is negative, or its certificate is not for an authority.
    return OID.basicConstraints
  }

  private static func purposes(_ x509: OpaquePointer) -> [String] {
    guard let raw = X509_get_ext_d2i(x509, NID_ext_key_usage, nil, nil) else { return [] }
    let stack = OpaquePointer(raw)
    defer { EXTENDED_KEY_USAGE_free(stack) }
    return (0..<OPENSSL_sk_num(stack)).compactMap { index in
      OPENSSL_sk_value(stack, index).flatMap { dottedIdentifier(OpaquePointer($0)) }
    }
  }
}

func octets(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
  Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
}

func octets(_ string: UnsafeMutablePointer<ASN1_STRING>) -> [UInt8] { octets(UnsafePointer(string)) }

func dottedIdentifier(_ object: OpaquePointer?) -> String? {
  guard let object else { return nil }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    let length = OBJ_obj2txt(buffer.baseAddress, Int32(buffer.count), object, 1)
    guard length > 0, Int(length) < buffer.count, let start = buffer.baseAddress else { return nil }
    return String(cString: start)
  }
}

/// Names of any kind (RFC 5280, 4.2.1.6), in the categories that mdoc's profiles distinguish.
struct GeneralNames: Sendable {
  enum Name: Sendable, Hashable {
    case uri(String), dNSName(String), rfc822Name, directoryName, other
  }

  let all: [Name]

  /// Reads OpenSSL's stack. The caller must free it.
  init(_ names: OpaquePointer) {
    all = (0..<OPENSSL_sk_num(names)).map { index in
      guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { return .other }
      func text(_ value: UnsafeMutablePointer<ASN1_STRING>) -> String {
        String(decoding: octets(value), as: UTF8.self)
      }
      switch name.pointee.type {
      case GEN_URI: return name.pointee.d.uniformResourceIdentifier.map { .uri(text($0)) } ?? .other
      case GEN_EMAIL: return .rfc822Name
      case GEN_DNS: return name.pointee.d.dNSName.map { .dNSName(text($0)) } ?? .other
      case GEN_DIRNAME: return .directoryName
      default: return .other
      }
    }
  }

  /// An alternative name extension of a certificate; nil if it is absent or not well-formed.
  init?(_ x509: OpaquePointer, nid: Int32) {
    guard let raw = X509_get_ext_d2i(x509, nid, nil, nil) else { return nil }
    let stack = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(stack) }
    self.init(stack)
  }
}

/// The addresses of the issuer's revocation list in a certificate (RFC 5280, 4.2.1.13). ISO/IEC 18013-5, B.1 requires
/// the URI of a list that covers all reasons and is issued by the certificate's own issuer.
public struct CRLDistributionPoints: Sendable, Hashable {
  /// The URIs of the usable points, in order, of any scheme.
  public let uris: [String]
  /// The flaws of the other points, and of the other names of the usable points.
  public let flaws: Set<Flaw>

  public enum Flaw: String, Sendable, CaseIterable {
    case dNSName, directoryName, otherName, relativeName, noName, reasons, cRLIssuer, malformed
  }

  /// True if a list can be fetched. Otherwise the status is undetermined. A certificate without any point declares no
  /// status.
  public var isUsable: Bool { !uris.isEmpty }

  public var detail: String {
    flaws.isEmpty ? "no distribution point" : flaws.map(\.rawValue).sorted().joined(separator: ", ")
  }

  init(_ x509: OpaquePointer) {
    var uris: [String] = []
    var flaws: Set<Flaw> = []
    if let raw = X509_get_ext_d2i(x509, NID_crl_distribution_points, nil, nil) {
      let stack = OpaquePointer(raw)
      defer { CRL_DIST_POINTS_free(stack) }
      for index in 0..<OPENSSL_sk_num(stack) {
        guard let point = OPENSSL_sk_value(stack, index)?.assumingMemoryBound(to: DIST_POINT.self) else { continue }
        Self.read(point.pointee, &uris, &flaws)
      }
    } else {
      flaws.insert(.malformed)
    }
    self.uris = uris
    self.flaws = flaws
  }

  private static func read(_ point: DIST_POINT, _ uris: inout [String], _ flaws: inout Set<Flaw>) {
    if point.reasons != nil { flaws.insert(.reasons) }
    if point.CRLissuer != nil { flaws.insert(.cRLIssuer) }
    guard let name = point.distpoint else {
      flaws.insert(.noName)
      return
    }
    guard name.pointee.type == 0, let names = name.pointee.name.fullname else {
      flaws.insert(.relativeName)
      return
    }
    let isWhole = point.reasons == nil && point.CRLissuer == nil
    for general in GeneralNames(names).all {
      switch general {
      case .uri(let uri) where isWhole: uris.append(uri)
      case .uri: continue
      case .dNSName: flaws.insert(.dNSName)
      case .directoryName: flaws.insert(.directoryName)
      case .rfc822Name, .other: flaws.insert(.otherName)
      }
    }
  }
}
