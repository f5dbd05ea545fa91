import COpenSSL

/// Names of any kind (RFC 5280, 4.2.1.6), as far as mdoc's profiles tell them apart.
struct GeneralNames: Sendable {
  enum Name: Sendable, Hashable {
    case uri(String), dNSName(String), rfc822Name, directoryName, other
  }

  let all: [Name]

  /// OpenSSL's stack, which stays the caller's.
  init(_ names: OpaquePointer) {
    all = (0..<OPENSSL_sk_num(names)).map { index in
      guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { return .other }
      switch name.pointee.type {
      case GEN_URI:
        return name.pointee.d.uniformResourceIdentifier.map { .uri(String(decoding: octets($0), as: UTF8.self)) }
          ?? .other
      case GEN_EMAIL: return .rfc822Name
      case GEN_DNS:
        return name.pointee.d.dNSName.map { .dNSName(String(decoding: octets($0), as: UTF8.self)) } ?? .other
      case GEN_DIRNAME: return .directoryName
      default: return .other
      }
    }
  }

  /// An alternative name extension of a certificate; nil where it is absent or not well-formed.
  init?(_ x509: OpaquePointer, nid: Int32) {
    guard let raw = X509_get_ext_d2i(x509, nid, nil, nil) else { return nil }
    let stack = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(stack) }
    self.init(stack)
  }
}
