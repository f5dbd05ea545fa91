import Base
import COpenSSL

/// The content of a revocation list, with nothing verified: to look at, never to decide by. `VerifiedCRL` decides.
public struct UnverifiedCRL: Sendable {
  public let issuer: DistinguishedName
  public let thisUpdate: Timestamp
  /// When the next list is due; nil if the list does not say.
  public let nextUpdate: Timestamp?
  /// The content octets of the listed numbers, in the list's order.
  public let serialNumbers: [[UInt8]]

  /// - Throws: `tooLarge`, or `malformed` for bytes that are no list in DER or PEM.
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

/// The encoding of a revocation list: exactly one list, in DER.
enum CRLEncoding {
  /// The bytes themselves if they begin as DER does; otherwise the content of the only PEM block, if it is a list.
  static func der(of bytes: [UInt8]) -> [UInt8]? {
    if bytes.first == 0x30 { return bytes }
    return bytes.withUnsafeBufferPointer { buffer in
      guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
      defer { BIO_free(bio) }
      guard let block = nextBlock(bio), block.label == "X509 CRL", nextBlock(bio) == nil else { return nil }
      return block.content
    }
  }

  /// OpenSSL's form, which the caller must free. Trailing bytes and BER are refused.
  static func parse(_ der: [UInt8]) -> OpaquePointer? {
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var crl = X509_CRL_new_ex(ParsingContext.library, nil)
      var position = buffer.baseAddress
      // On failure OpenSSL has freed the object that it was given.
      guard crl != nil, d2i_X509_CRL(&crl, &position, buffer.count) != nil else { return nil }
      guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_CRL_free(crl)
        return nil
      }
      return crl
    }
    guard let parsed else { return nil }
    guard isDER(parsed, der) else {
      X509_CRL_free(parsed)
      return nil
    }
    return parsed
  }

  private static func isDER(_ crl: OpaquePointer, _ bytes: [UInt8]) -> Bool {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509_CRL(crl, &output)
    guard length >= 0, let output else { return false }
    defer { CRYPTO_free(output, nil, 0) }
    return UnsafeBufferPointer(start: output, count: Int(length)).elementsEqual(bytes)
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

/// The addresses of the issuer's revocation list that a certificate names (RFC 5280, 4.2.1.13). ISO/IEC 18013-5, B.1
/// wants a URI, for all reasons, of a list by the certificate's own issuer.
public struct CRLDistributionPoints: Sendable, Hashable {
  /// The URIs of the points that can be used, in their order, of whatever scheme.
  public let uris: [String]
  /// The flaws of other points, or of other names of these points.
  public let flaws: Set<Flaw>

  public enum Flaw: String, Sendable, CaseIterable {
    case dNSName, directoryName, otherName, relativeName, noName, reasons, cRLIssuer, malformed
  }

  /// Whether there is an address from which to fetch a list. A point that can't be used leaves the status undetermined,
  /// which is not the same as having no point.
  public var isUsable: Bool { !uris.isEmpty }

  /// The flaws as text for people.
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
