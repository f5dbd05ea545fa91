import HTTP
import Sessions

/// The token of an `Authorization: Bearer` header (RFC 6750, 2.1).
enum BearerToken {
  private static let scheme = "bearer "

  /// Throws `api.unauthenticated` for a header that is absent, repeated, of another scheme or no token. Queries and
  /// bodies are never looked at for credentials.
  static func read(_ headers: HTTPHeaders) throws(ServiceError) -> String {
    guard let header = headers.single("Authorization"), header.utf8.count > scheme.utf8.count,
      header.prefix(scheme.count).lowercased() == scheme
    else { throw ServiceError(.apiUnauthenticated) }
    let token = String(header.dropFirst(scheme.count))
    guard token.utf8.count <= 512, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ServiceError(.apiUnauthenticated)
    }
    return token
  }
}
