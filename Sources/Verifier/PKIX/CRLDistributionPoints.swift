import COpenSSL

/// Where a certificate says that its issuer's revocation list is (RFC 5280, 4.2.1.13). ISO/IEC 18013-5, B.1 wants a URI,
/// for all reasons, of a list by the certificate's own issuer.
public struct CRLDistributionPoints: Sendable, Hashable {
  /// The URIs of the points that can be used, in their order, of whatever scheme.
  public let uris: [String]
  /// What is wrong with other points, or with other names of these.
  public let flaws: Set<Flaw>

  public enum Flaw: String, Sendable, CaseIterable {
    case dNSName, directoryName, otherName, relativeName, noName, reasons, cRLIssuer
  }

  /// Whether there is an address to fetch a list from. A point that can't be used leaves the status undetermined: it is
  /// not the same as none.
  public var isUsable: Bool { !uris.isEmpty }

  /// What can't be used, for people.
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
