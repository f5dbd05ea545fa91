import Base
import TestStores

@testable import Sessions

/// An in-memory store that notes its calls, and fails to record outcomes if a test demands it.
struct RecordingStore: SessionStore {
  var failsOutcomes = false
  let inner = InMemoryStore(mode: .test)
  private let questions = Locked<[String]>([])

  init(failsOutcomes: Bool = false) { self.failsOutcomes = failsOutcomes }

  var mode: ServerMode { .test }

  func observed(by observer: any StoreObserver) -> any SessionStore { self }
  var asked: [String] { questions.withLock { $0 } }

  func forget() { questions.withLock { $0 = [] } }

  private func note(_ question: String = #function) { questions.withLock { $0.append(question) } }

  func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    note()
    guard !failsOutcomes else { throw .unavailable("full") }
    return try await inner.recordOutcome(outcome, at: now, finishing: completion)
  }

  func expire(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Bool {
    note()
    return try await inner.expire(address, at: now)
  }

  func recordVerification(_ outcome: AttemptOutcome, at now: Timestamp) async throws(StoreError) {
    note()
    guard !failsOutcomes else { throw .unavailable("full") }
    try await inner.recordVerification(outcome, at: now)
  }

  func create(_ session: SessionRecord, finishing completion: IdempotencyCompletion?) async throws(StoreError) {
    note()
    try await inner.create(session, finishing: completion)
  }
  func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    note()
    return try await inner.consume(address, protocolName: protocolName, attempt: attempt, at: now)
  }
  func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    note()
    return try await inner.evidence(address)
  }
  func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    note()
    return try await inner.session(address)
  }
  func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    note()
    return try await inner.exists(address)
  }
  func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    note()
    return try await inner.session(id, clientSecretHash: clientSecretHash)
  }
  func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    note()
    return try await inner.sessions(of: relyingParty, query, at: now)
  }
  func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    note()
    return try await inner.unended(among: ids, at: now)
  }
  func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    note()
    return try await inner.cancel(address, at: now)
  }
  func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    note()
    return try await inner.redact(address, at: now)
  }
  func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    note()
    return try await inner.report(id, of: relyingParty)
  }
  func beginIdempotent(_ claim: IdempotencyClaim, at now: Timestamp) async throws(StoreError) -> IdempotencyStart {
    note()
    return try await inner.beginIdempotent(claim, at: now)
  }
  func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    note()
    try await inner.finishIdempotent(completion)
  }
  func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    note()
    try await inner.releaseIdempotent(claim)
  }
  func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    note()
    return try await inner.sweep(at: now, limit: limit)
  }
  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    note()
    return try await inner.event(id, of: relyingParty)
  }
  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    note()
    return try await inner.events(of: relyingParty, query)
  }
  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    try await inner.distributeEvents(to: subscriptions, at: now, limit: limit)
  }
  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    try await inner.claimDeliveries(quotas, limit: limit, at: now)
  }
  func recordDelivery(_ claimed: DeliveryRecord, _ result: AttemptResult) async throws(StoreError) -> Bool {
    try await inner.recordDelivery(claimed, result)
  }
  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage? {
    note()
    return try await inner.deliveries(of: relyingParty, query)
  }
  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    note()
    return try await inner.retryDelivery(id, of: relyingParty, at: now)
  }
  func outboxState() async throws(StoreError) -> OutboxState { try await inner.outboxState() }
  func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    note()
    return try await inner.auditEntries(of: node, relyingParty, after: sequence, limit: limit)
  }
  func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    note()
    return try await inner.auditHeads(of: relyingParty)
  }
  func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    note()
    return try await inner.usage(of: relyingParty, at: now)
  }
  func probe() async throws(StoreError) { try await inner.probe() }
  func close() async { await inner.close() }
}
