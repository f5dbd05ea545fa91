import Base

/// Who makes a call, authenticated.
package enum Caller: Sendable {
  /// - Parameter id: what logs call the key.
  case apiKey(RelyingParty, scopes: Set<Scope>, id: String? = nil)
  /// The holder of a session's client secret: submit, cancel and GET of that session, and no personal data.
  case clientSecret(SessionID, of: RelyingParty)
  /// A wallet that posts its answer by itself: it sees nothing of what comes of it.
  case wallet(SessionID, of: RelyingParty)

  package var relyingParty: RelyingParty {
    switch self {
    case .apiKey(let party, _, _): party
    case .clientSecret(_, let party), .wallet(_, let party): party
    }
  }

  /// What logs call the API key, where it has a name.
  package var keyID: String? { if case .apiKey(_, _, let id) = self { id } else { nil } }

  func has(_ scope: Scope) -> Bool {
    if case .apiKey(_, let scopes, _) = self { scopes.contains(scope) } else { false }
  }

  /// An API key with at least one of `scopes`, or `api.forbidden`.
  package func require(_ scopes: Scope...) throws(ServiceError) {
    guard scopes.contains(where: has) else {
      let names = scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      throw ServiceError(.apiForbidden, "This needs an API key with the scope \(names).")
    }
  }

  /// The session at `id`, if this caller may act on it at all. A client secret sees no other session than its own, a
  /// wallet neither: every other answers as an unknown one.
  func address(of id: String) throws(ServiceError) -> SessionAddress {
    guard let session = SessionID(id) else { throw .sessionNotFound }
    switch self {
    case .clientSecret(let own, _), .wallet(let own, _): guard own == session else { throw .sessionNotFound }
    case .apiKey: break
    }
    return SessionAddress(relyingParty: relyingParty.id, id: session)
  }
}
