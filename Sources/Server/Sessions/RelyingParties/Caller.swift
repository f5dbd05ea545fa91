import Base
import Cryptography

/// Finds the caller of a bearer token. Both kinds are looked up by their SHA-256, so that the time of the look-up
/// says nothing about the token.
struct Authenticate {
  let context: ServiceContext

  func run(_ token: String) async throws(ServiceError) -> Caller {
    if let caller = context.relyingParties.owner(ofKey: token, at: context.clock()) { return caller }
    guard let secret = ClientSecret(token) else { throw ServiceError(.apiUnauthenticated) }
    let record: SessionRecord?
    do {
      record = try await context.store.session(secret.session, clientSecretHash: secret.sha256)
    } catch {
      throw ServiceError(error)
    }
    // The secret dies with the session; the page that holds it gets ten minutes to read how the session ended.
    guard let record, context.clock() < record.expiresAt + Limits.resultLifetime,
      let party = context.relyingParties[record.address.relyingParty]
    else { throw ServiceError(.apiUnauthenticated) }
    return .clientSecret(record.address.id, of: party)
  }
}

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

  package func has(_ scope: Scope) -> Bool {
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

/// An API key as the configuration holds it: never the key, only its SHA-256.
///
/// A relying party may have several: to rotate one, the new key is added, the old one gets an end, and both are good
/// until then.
package struct APIKey: Sendable, Hashable {
  package let sha256: [UInt8]
  package let scopes: Set<Scope>
  /// What logs call it.
  package let id: String?
  /// From when on it is answered like a key that nobody knows; nil: never.
  package let expiresAt: Timestamp?

  package init(sha256: [UInt8], scopes: Set<Scope>, id: String? = nil, expiresAt: Timestamp? = nil) {
    self.sha256 = sha256
    self.scopes = scopes
    self.id = id
    self.expiresAt = expiresAt
  }

  /// The hash by which a presented key is looked up.
  package static func hash(of key: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(key.utf8)) }

  package func isGood(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}

/// What an API key may do (HTTP API, Authentication).
package enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Create, submit, cancel and redact sessions.
  case sessionsWrite = "sessions:write"
  /// Get verified element values.
  case resultsRead = "results:read"
  /// See the trust anchors in force.
  case trustRead = "trust:read"
  /// Look after one relying party: its audit entries, its figures on `/status`, and the server's metrics.
  case admin
  /// Operate the server: load trust and configuration again, and see the figures of all relying parties.
  case operate = "server:operate"
  /// Read the audit entries of all relying parties, and the heads of their chains.
  case auditReadAll = "audit:read_all"
}
