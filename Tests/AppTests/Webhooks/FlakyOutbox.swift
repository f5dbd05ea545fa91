import Base
import Sessions

/// An outbox that fails where a test says so.
final class FlakyOutbox: EventStore {
  private let inner: any EventStore
  private let isFailing = Locked<@Sendable (String) -> Bool>({ _ in false })

  init(inner: any EventStore) { self.inner = inner }

  /// - Parameter fails: by the function's name.
  func fails(_ fails: @escaping @Sendable (String) -> Bool) { isFailing.withLock { $0 = fails } }

  private func check(_ name: String) throws(StoreError) {
    let fails = isFailing.withLock { $0 }
    if fails(name) { throw .unavailable("by a test") }
  }

  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await inner.event(id, of: relyingParty)
  }

  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    try await inner.events(of: relyingParty, query)
  }

  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    try check("distributeEvents")
    return try await inner.distributeEvents(to: subscriptions, at: now, limit: limit)
  }

  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    try check("claimDeliveries")
    return try await inner.claimDeliveries(quotas, limit: limit, at: now)
  }

  func recordDelivery(_ claimed: DeliveryRecord, _ result: DeliveryResult) async throws(StoreError) -> Bool {
    try check("recordDelivery")
    return try await inner.recordDelivery(claimed, result)
  }

  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage? {
    try await inner.deliveries(of: relyingParty, query)
  }

  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    try await inner.retryDelivery(id, of: relyingParty, at: now)
  }

  func outboxState() async throws(StoreError) -> OutboxState { try await inner.outboxState() }
}
