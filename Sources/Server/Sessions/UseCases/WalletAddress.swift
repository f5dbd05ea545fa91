import Base

/// The session behind an address that a wallet was given, with the protocol that gave it.
///
/// Wallets have no credential: they know the session's id. Whatever is unknown, somebody else's or not for wallets to
/// call answers alike.
struct WalletAddress {
  let record: SessionRecord
  let relyingParty: RelyingParty
  let wallet: any FetchedRequestProtocol

  init(_ session: String, of relyingParty: String, context: ServiceContext) async throws(ServiceError) {
    guard let party = context.relyingParties[relyingParty], let id = SessionID(session) else { throw .sessionNotFound }
    record = try await context.record(at: SessionAddress(relyingParty: party.id, id: id))
    if case .redacted = record.state { throw ServiceError(.sessionRedacted) }
    guard let name = record.offers.first?.protocolName,
      let wallet = context.protocols[name] as? any FetchedRequestProtocol
    else { throw .sessionNotFound }
    self.wallet = wallet
    self.relyingParty = party
  }
}
