import Primitives

/// Who makes a call, authenticated.
public enum Caller: Sendable {
  case apiKey(RelyingParty, scopes: Set<Scope>)
  /// The holder of a session's client secret: submit and GET of that session, and no personal data.
  case clientSecret(SessionID, of: RelyingParty)

  public var relyingParty: RelyingParty {
    switch self {
    case .apiKey(let party, _): party
    case .clientSecret(_, let party): party
    }
  }

  func has(_ scope: Scope) -> Bool {
    if case .apiKey(_, let scopes) = self { scopes.contains(scope) } else { false }
  }

  /// An API key with at least one of `scopes`, or `api.forbidden`.
  public func require(_ scopes: Scope...) throws(ServiceError) {
    guard scopes.contains(where: has) else {
      let names = scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      throw ServiceError(.apiForbidden, "This needs an API key with the scope \(names).")
    }
  }

  /// The session at `id`, if this caller may act on it at all. A client secret sees no other session than its own:
  /// every other answers as an unknown one.
  func address(of id: String) throws(ServiceError) -> SessionAddress {
    guard let session = SessionID(id) else { throw .sessionNotFound }
    if case .clientSecret(let own, _) = self, own != session { throw .sessionNotFound }
    return SessionAddress(relyingParty: relyingParty.id, id: session)
  }
}
