import Base

/// The events of sessions, and the outbox that they are delivered from.
///
/// An event is written by the store itself, in the transaction of the change that it tells (`recordOutcome`, `cancel`,
/// `redact`, `sweep`): each change that was committed has its event, and no other. Events, and with them their
/// deliveries, are deleted by `sweep` after `Limits.eventRetention`.
package protocol EventStore: Sendable {
  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord?

  /// A page of one relying party's events, newest first; nil where `startingAfter` is not one of them.
  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage?

  // MARK: Outbox

  /// Looks at the oldest events that nobody has looked at, at most `limit`, and makes their deliveries to whoever
  /// subscribes now, in one transaction: an event is delivered to those that were there when it happened, or shortly
  /// after. Returns how many events it took.
  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int

  /// Takes due deliveries, at most `limit` in the order of the quotas, of each endpoint those due longest first, each
  /// for `Limits.deliveryLease` seconds: in that time no other process gets them, after it any. Counts the attempt.
  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord]

  /// Writes what an attempt came to; false, and nothing, where the claim has lapsed and somebody else has the delivery.
  func recordDelivery(
    _ claimed: DeliveryRecord, _ result: DeliveryResult
  ) async throws(StoreError) -> Bool

  /// A page of one relying party's deliveries of one status, those of the newest events first; nil where
  /// `startingAfter` is no delivery of its.
  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage?

  /// Begins a dead letter anew, due at once.
  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry

  func outboxState() async throws(StoreError) -> OutboxState
}
