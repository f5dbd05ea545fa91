import Primitives

/// The events of sessions, and the outbox that they are delivered from.
///
/// An event is written by the store itself, in the transaction of the change that it tells (`recordOutcome`, `cancel`,
/// `redact`, `sweep`): each change that was committed has its event, and no other. Events, and with them their
/// deliveries, are deleted by `sweep` after `Limits.eventRetention`.
public protocol EventStore: Sendable {
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

/// An endpoint as a store knows it.
public struct WebhookAddress: Sendable, Hashable {
  public let relyingParty: String
  public let endpoint: String

  public init(relyingParty: String, endpoint: String) {
    self.relyingParty = relyingParty
    self.endpoint = endpoint
  }
}

/// Which events an endpoint is told of.
public struct WebhookSubscription: Sendable, Hashable {
  public let address: WebhookAddress
  public let types: Set<EventType>

  public init(address: WebhookAddress, types: Set<EventType>) {
    self.address = address
    self.types = types
  }

  func includes(_ event: EventRecord) -> Bool {
    address.relyingParty == event.relyingParty && types.contains(event.id.type)
  }
}

/// How many deliveries of one endpoint may be taken.
public struct DeliveryQuota: Sendable, Hashable {
  public let address: WebhookAddress
  public let limit: Int

  public init(address: WebhookAddress, limit: Int) {
    self.address = address
    self.limit = limit
  }
}

/// What an attempt came to.
public enum DeliveryResult: Sendable, Hashable {
  case delivered
  case retry(at: Timestamp, DeliveryFault)
  case dead(DeliveryFault)
}

public enum DeliveryRetry: Sendable, Hashable {
  case begun(DeliveryRecord)
  /// It is no dead letter.
  case refused(DeliveryRecord)
  case notFound
}

public struct DeliveryQuery: Sendable, Hashable {
  public var limit: Int
  public var startingAfter: DeliveryID?
  public var status: DeliveryStatus

  public init(limit: Int = Limits.pageSize, startingAfter: DeliveryID? = nil, status: DeliveryStatus = .dead) {
    self.limit = limit
    self.startingAfter = startingAfter
    self.status = status
  }
}

public struct DeliveryPage: Sendable, Hashable {
  public let deliveries: [DeliveryRecord]
  public let hasMore: Bool

  public init(deliveries: [DeliveryRecord], hasMore: Bool) {
    self.deliveries = deliveries
    self.hasMore = hasMore
  }
}

/// How much waits, of all relying parties, for the metrics.
public struct OutboxState: Sendable, Hashable {
  public let pending: Int
  public let dead: Int
  /// When the pending delivery that waits longest was begun.
  public let oldestPending: Timestamp?

  public init(pending: Int, dead: Int, oldestPending: Timestamp?) {
    self.pending = pending
    self.dead = dead
    self.oldestPending = oldestPending
  }
}
