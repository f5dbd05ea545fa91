import Base

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
