import Base
import Cryptography
import Longfellow
import Trust

/// The application: sessions and their use cases, the same for HTTP and for whoever calls it from Swift.
///
/// Each method is one call of the HTTP API: it checks the caller's rights, reads its input strictly, does the work and
/// answers with the JSON to send, or throws the `ServiceError` that becomes the problem. The use cases are in
/// `UseCases/`, one a file.
package struct VerificationService: Sendable {
  let context: ServiceContext

  /// Refuses a store of another mode, live mode and staging without a sealing key, and two protocols of one name.
  package init(
    _ configuration: ServiceConfiguration, store: any SessionStore, clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    context = try ServiceContext(configuration, store: store, clock: clock)
  }

  private init(context: ServiceContext) { self.context = context }

  /// The service with another configuration. It keeps the store, the clock, and what is known of work and usage. Calls
  /// that have begun end with the configuration that they began with.
  package func reconfigured(by configuration: ServiceConfiguration) throws(ConfigurationError) -> VerificationService {
    VerificationService(
      context: try ServiceContext(configuration, store: context.store, sharing: context, clock: context.clock))
  }

  package var mode: ServerMode { context.mode }
  package var relyingParties: RelyingParties { context.relyingParties }
  /// Who answers questions of revocation.
  package var revocation: any RevocationSource { context.revocation }
  /// By what zero-knowledge proofs are verified; nil where no circuits are configured.
  package var circuits: CircuitLibrary? { context.proofs?.circuits }
  /// Names of the protocols that sessions may ask for.
  package var protocolNames: [String] { context.protocols.keys.sorted() }

  // MARK: Callers

  /// Who holds this bearer token: an API key or a client secret. Throws `api.unauthenticated`, or
  /// `api.store_unavailable`.
  package func authenticate(bearer token: String) async throws(ServiceError) -> Caller {
    try await Authenticate(context: context).run(token)
  }

  // MARK: Sessions

  /// `POST /v1/verification_sessions` → 201.
  package func createSession(
    _ body: JSON, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite)
    return try await context.execute(idempotency, caller) { claim throws(ServiceError) in
      try await CreateSession(context: context).run(body, as: caller, claim: claim)
    }
  }

  /// `POST /v1/verification_sessions/{id}/submit` → 200, whatever came of the answer.
  package func submit(
    _ body: JSON, to id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    if case .apiKey = caller { try caller.require(.sessionsWrite) }
    return try await context.execute(idempotency, caller, isSubmit: true) { claim throws(ServiceError) in
      try await SubmitAnswer(context: context).run(body, to: id, as: caller, claim: claim)
    }
  }

  /// `GET /v1/verification_sessions/{id}`; `query` is that of the URL (`expand[]=result`).
  package func session(
    _ id: String, query: [QueryItem] = [], as caller: Caller
  ) async throws(ServiceError) -> Reply {
    try await GetSession(context: context).run(id, query: query, as: caller)
  }

  /// Whether the relying party has a session with this id. A caller without a credential learns only what the holder of
  /// an id knows.
  package func hasSession(_ id: String, of party: RelyingParty) async throws(ServiceError) -> Bool {
    guard let address = SessionID(id).map({ SessionAddress(relyingParty: party.id, id: $0) }) else { return false }
    do { return try await context.store.exists(address) } catch { throw ServiceError(error) }
  }

  /// `GET /v1/verification_sessions/{id}/page`: what its hosted page shows.
  package func page(_ id: String, as caller: Caller) async throws(ServiceError) -> PageReply {
    try await ReadPage(context: context).run(id, as: caller)
  }

  /// Those of these sessions that have not ended; nil if the store does not tell.
  package func unended(among ids: [SessionID]) async -> Set<SessionID>? {
    try? await context.store.unended(among: ids, at: context.clock())
  }

  /// The address in the QR code of `GET /v1/verification_sessions/{id}/qr_code`.
  package func walletLink(
    _ id: String, code: ResponseCodeHash? = nil, as caller: Caller
  ) async throws(ServiceError) -> String {
    try await ReadWalletLink(context: context).run(id, code: code, as: caller)
  }

  /// `GET /v1/verification_sessions?limit=&starting_after=&status=&expand[]=`.
  package func sessions(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    try await ListSessions(context: context).run(query, as: caller)
  }

  /// `POST /v1/verification_sessions/{id}/cancel`; `body` may have a `reason`.
  package func cancel(
    _ id: String, _ body: JSON = [:], as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    if case .apiKey = caller { try caller.require(.sessionsWrite) }
    return try await context.execute(idempotency, caller) { claim throws(ServiceError) in
      try await CancelSession(context: context).run(id, body, as: caller, claim: claim)
    }
  }

  /// `POST /v1/verification_sessions/{id}/redact`.
  package func redact(
    _ id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite)
    return try await context.execute(idempotency, caller) { _ throws(ServiceError) in
      try await RedactSession(context: context).run(id, as: caller)
    }
  }

  /// `GET /v1/verification_reports/{id}`.
  package func report(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    try await GetReport(context: context).run(id, as: caller)
  }

  /// `GET /v1/verification_sessions/{id}/evidence`: the sealed bundle, which `EvidenceBundle` opens.
  package func evidence(of id: String, as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try await GetEvidence(context: context).run(id, as: caller)
  }

  /// What a session asked by one of its protocols, by default its first, for the mock wallet of test mode;
  /// `api.not_found` in live mode.
  package func pendingRequest(
    _ id: String, by protocolName: String? = nil, as caller: Caller
  ) async throws(ServiceError) -> PendingRequest {
    try await GetPendingRequest(context: context).run(id, by: protocolName, as: caller)
  }

  // MARK: Events

  /// `GET /v1/events?limit=&starting_after=&type=`.
  package func events(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    try await ListEvents(context: context).run(query, as: caller)
  }

  /// `GET /v1/events/{id}`.
  package func event(_ id: String, as caller: Caller) async throws(ServiceError) -> Reply {
    try await GetEvent(context: context).run(id, as: caller)
  }

  /// `GET /v1/webhook_deliveries?limit=&starting_after=&status=`.
  package func webhookDeliveries(query: [QueryItem] = [], as caller: Caller) async throws(ServiceError) -> Reply {
    try await ListDeliveries(context: context).run(query, as: caller)
  }

  /// `POST /v1/webhook_deliveries/{id}/retry`.
  package func retryWebhookDelivery(
    _ id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try caller.require(.sessionsWrite, .resultsRead)
    return try await context.execute(idempotency, caller) { _ throws(ServiceError) in
      try await RetryDelivery(context: context).run(id, as: caller)
    }
  }

  // MARK: Audit

  /// `GET /v1/audit/entries?node=&after=&limit=`: JSON Lines (`AuditLine`).
  package func auditEntries(query: [QueryItem], as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try await ReadAudit(context: context).entries(query, as: caller)
  }

  /// `GET /v1/audit/heads`: JSON Lines.
  package func auditHeads(as caller: Caller) async throws(ServiceError) -> [UInt8] {
    try await ReadAudit(context: context).heads(as: caller)
  }

  /// For the metrics and the status page.
  ///
  /// - Parameter only: whose last entries' heads; nil for those of all chains.
  package func auditHeads(of only: RelyingParty? = nil) async throws(ServiceError) -> [AuditHead] {
    do { return try await context.store.auditHeads(of: only?.id) } catch { throw ServiceError(error) }
  }

  package func usage(of party: RelyingParty) async throws(ServiceError) -> StoreUsage {
    try await context.lists.take(party.id) { () async throws(StoreError) in
      try await context.store.usage(of: party.id, at: context.clock())
    }
  }

  /// A relying party's newest dead letters, for operators.
  package func deadLetters(of relyingParty: String, limit: Int) async throws(ServiceError) -> [DeliveryRecord] {
    do {
      return try await context.store.deliveries(of: relyingParty, DeliveryQuery(limit: limit))?.deliveries ?? []
    } catch {
      throw ServiceError(error)
    }
  }

  // MARK: Wallets

  /// `GET` or `POST /v1/wallet/{relying_party}/{session}/request`: the signed request object, for anybody who knows the
  /// session's id. `parameters` are the form's, where there is one, read once a session is found that waits.
  package func walletRequest(
    _ session: String, of relyingParty: String, parameters: @autoclosure () throws(ServiceError) -> JSON? = nil
  ) async throws(ServiceError) -> [UInt8] {
    try await FetchWalletRequest(context: context).run(session, of: relyingParty, parameters: parameters)
  }

  /// `POST /v1/wallet/{relying_party}/{session}/response`: a wallet's own answer, or its error. What came of it is the
  /// relying party's to know. `parameters` are the form's, read once a session is found that waits.
  package func receiveWalletResponse(
    _ parameters: @autoclosure () throws(ServiceError) -> JSON, session: String, of relyingParty: String
  ) async throws(ServiceError) -> WalletReply {
    try await ReceiveWalletResponse(context: context).run(parameters, session: session, of: relyingParty)
  }

  // MARK: Upkeep

  /// Whether the store answers; trust is asked elsewhere.
  package func checkReadiness() async throws(ServiceError) {
    do { try await context.store.probe() } catch { throw ServiceError(error) }
  }

  /// Counts what relying parties have in the store, where that was not done for a while. To be called every few seconds.
  package func measureUsage() async { await MeasureUsage(context: context).run() }

  /// Writes what time has done to sessions and erases what is over. To be called every few seconds.
  @discardableResult
  package func sweep() async throws(ServiceError) -> SweepCount {
    try await SweepSessions(context: context).run()
  }
}
