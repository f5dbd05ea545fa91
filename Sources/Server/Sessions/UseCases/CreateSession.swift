import Base
import Cryptography
import Mdoc

/// Makes a session: one request for each protocol, each with its own nonce and key, and a client secret that is shown
/// in this reply only.
struct CreateSession {
  let context: ServiceContext

  func run(_ body: JSON, as caller: Caller, claim: IdempotencyClaim?) async throws(ServiceError) -> OperationReply {
    let party = caller.relyingParty
    let input = try CreateSessionInput(parsing: body, for: party, offered: Set(context.protocols.keys))
    try await context.checkQuota(of: party, forSession: true)
    let id: SessionID
    let secret: ClientSecret
    do {
      id = try SessionID.random()
      secret = try ClientSecret.random(of: id)
    } catch {
      throw .cryptoFailed
    }
    let now = context.clock()
    let place = RequestContext(
      session: SessionAddress(relyingParty: party.id, id: id), relyingParty: party, apple: input.apple,
      origin: input.origin, publicURL: context.publicURL, now: now)
    var offers: [ProtocolOffer] = []
    for name in input.protocols {
      // The input was checked against these names.
      guard let wallet = context.protocols[name] else { throw ServiceError(.apiProtocolUnsupported) }
      offers.append(try offer(wallet, input.request, in: place))
    }
    let bytes = offers.reduce(body.plainBytes) { $0 + $1.data.bytes.count }
    guard bytes <= Limits.sessionBytes else { throw ServiceError(.apiSessionTooLarge) }
    let record = SessionRecord(
      address: place.session, created: now, expiresAt: now + input.expiresIn,
      clientSecretHash: secret.sha256,
      content: SessionContent(
        request: input.request, origin: input.origin, redirectURI: input.redirectURI,
        clientReferenceID: input.clientReferenceID, metadata: input.metadata),
      offers: offers)
    let rendered = SessionRendering(isLive: context.isLive, now: now).json(record, clientSecret: secret)
    var reply = OperationReply(status: 201, body: rendered, session: id)
    let completion = try context.completion(claim, reply)
    do { try await context.store.create(record, finishing: completion) } catch { throw ServiceError(error) }
    context.usage.note(
      StoreUsage(openSessions: 1, bytes: Int64(bytes) + StoreUsage.sessionOverhead), of: party.id)
    reply.isKept = true
    return reply
  }

  private func offer(
    _ wallet: any WalletProtocol, _ request: PresentationRequest, in place: RequestContext
  ) throws(ServiceError) -> ProtocolOffer {
    let outgoing = try wallet.makeRequest(request, in: place)
    let sealed: [UInt8]
    do {
      sealed = try context.sealer.seal(outgoing.material, .challenge(place.session.id, protocolName: wallet.name))
    } catch {
      throw .cryptoFailed
    }
    return ProtocolOffer(protocolName: wallet.name, data: JSONText(outgoing.data), sealedMaterial: sealed)
  }
}
