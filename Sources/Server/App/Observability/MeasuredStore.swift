import Base
import Sessions

/// Times the operations of another store, counts their failures, and wakes those who wait for a session that it ends.
struct MeasuredStore: SessionStore {
  let store: any SessionStore
  let metrics: Metrics
  let waits: SessionWaits

  init(_ store: any SessionStore, metrics: Metrics, waits: SessionWaits) {
    self.store = store
    self.metrics = metrics
    self.waits = waits
  }

  var mode: ServerMode { store.mode }

  private func measured<R: Sendable>(
    _ operation: StaticString, _ body: () async throws(StoreError) -> R
  ) async throws(StoreError) -> R {
    let start = ContinuousClock.now
    do throws(StoreError) {
      let result = try await body()
      metrics.didUseStore("\(operation)", seconds: (ContinuousClock.now - start) / .seconds(1), failed: false)
      return result
    } catch {
      metrics.didUseStore("\(operation)", seconds: (ContinuousClock.now - start) / .seconds(1), failed: true)
      throw error
    }
  }

  // MARK: Sessions

  func create(_ session: SessionRecord, finishing completion: IdempotencyCompletion?) async throws(StoreError) {
    try await measured("create") { () async throws(StoreError) in
      try await store.create(session, finishing: completion)
    }
  }

  func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    try await measured("consume") { () async throws(StoreError) in
      try await store.consume(address, protocolName: protocolName, attempt: attempt, at: now)
    }
  }

  func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    defer { waits.wake(outcome.address.id) }
    return try await measured("record_outcome") { () async throws(StoreError) in
      try await store.recordOutcome(outcome, at: now, finishing: completion)
    }
  }

  func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await measured("session") { () async throws(StoreError) in try await store.session(address) }
  }

  func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    try await measured("session_exists") { () async throws(StoreError) in try await store.exists(address) }
  }

  func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await measured("session_by_secret") { () async throws(StoreError) in
      try await store.session(id, clientSecretHash: clientSecretHash)
    }
  }

  func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    try await measured("unended") { () async throws(StoreError) in try await store.unended(among: ids, at: now) }
  }

  func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    try await measured("sessions") { () async throws(StoreError) in
      try await store.sessions(of: relyingParty, query, at: now)
    }
  }

  func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    defer { waits.wake(address.id) }
    return try await measured("cancel") { () async throws(StoreError) in try await store.cancel(address, at: now) }
  }

  func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    defer { waits.wake(address.id) }
    return try await measured("redact") { () async throws(StoreError) in try await store.redact(address, at: now) }
  }

  func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    try await measured("report") { () async throws(StoreError) in try await store.report(id, of: relyingParty) }
  }

  func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try await measured("evidence") { () async throws(StoreError) in try await store.evidence(address) }
  }

  // MARK: Idempotency

  func beginIdempotent(_ claim: IdempotencyClaim, at now: Timestamp) async throws(StoreError) -> IdempotencyStart {
    try await measured("begin_idempotent") { () async throws(StoreError) in
      try await store.beginIdempotent(claim, at: now)
    }
  }

  func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try await measured("finish_idempotent") { () async throws(StoreError) in
      try await store.finishIdempotent(completion)
    }
  }

  func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    try await measured("release_idempotent") { () async throws(StoreError) in
      try await store.releaseIdempotent(claim)
    }
  }

  // MARK: Events

  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await measured("event") { () async throws(StoreError) in try await store.event(id, of: relyingParty) }
  }

  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    try await measured("events") { () async throws(StoreError) in try await store.events(of: relyingParty, query) }
  }

  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    try await measured("distribute_events") { () async throws(StoreError) in
      try await store.distributeEvents(to: subscriptions, at: now, limit: limit)
    }
  }

  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    try await measured("claim_deliveries") { () async throws(StoreError) in
      try await store.claimDeliveries(quotas, limit: limit, at: now)
    }
  }

  func recordDelivery(_ claimed: DeliveryRecord, _ result: AttemptResult) async throws(StoreError) -> Bool {
    try await measured("record_delivery") { () async throws(StoreError) in
      try await store.recordDelivery(claimed, result)
    }
  }

  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage? {
    try await measured("deliveries") { () async throws(StoreError) in
      try await store.deliveries(of: relyingParty, query)
    }
  }

  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    try await measured("retry_delivery") { () async throws(StoreError) in
      try await store.retryDelivery(id, of: relyingParty, at: now)
    }
  }

  func outboxState() async throws(StoreError) -> OutboxState {
    try await measured("outbox_state") { () async throws(StoreError) in try await store.outboxState() }
  }

  // MARK: Audit

  func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await measured("audit_entries") { () async throws(StoreError) in
      try await store.auditEntries(of: node, relyingParty, after: sequence, limit: limit)
    }
  }

  func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try await measured("audit_heads") { () async throws(StoreError) in try await store.auditHeads(of: relyingParty) }
  }

  // MARK: Upkeep

  func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    try await measured("usage") { () async throws(StoreError) in try await store.usage(of: relyingParty, at: now) }
  }

  func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    try await measured("sweep") { () async throws(StoreError) in try await store.sweep(at: now, limit: limit) }
  }

  func probe() async throws(StoreError) {
    try await measured("probe") { () async throws(StoreError) in try await store.probe() }
  }

  func close() async { await store.close() }
}
