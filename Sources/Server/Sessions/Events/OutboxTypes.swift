import Base

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
