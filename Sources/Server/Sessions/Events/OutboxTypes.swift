import Base

/// An endpoint as a store knows it.
package struct WebhookAddress: Sendable, Hashable {
  package let relyingParty: String
  package let endpoint: String

  package init(relyingParty: String, endpoint: String) {
    self.relyingParty = relyingParty
    self.endpoint = endpoint
  }
}

/// Which events an endpoint is told of.
package struct WebhookSubscription: Sendable, Hashable {
  package let address: WebhookAddress
  package let types: Set<EventType>

  package init(address: WebhookAddress, types: Set<EventType>) {
    self.address = address
    self.types = types
  }

  func includes(_ event: EventRecord) -> Bool {
    address.relyingParty == event.relyingParty && types.contains(event.id.type)
  }
}

/// How many deliveries of one endpoint may be taken.
package struct DeliveryQuota: Sendable, Hashable {
  package let address: WebhookAddress
  package let limit: Int

  package init(address: WebhookAddress, limit: Int) {
    self.address = address
    self.limit = limit
  }
}

/// What an attempt came to.
package enum DeliveryResult: Sendable, Hashable {
  case delivered
  case retry(at: Timestamp, DeliveryFault)
  case dead(DeliveryFault)
}

package enum DeliveryRetry: Sendable, Hashable {
  case begun(DeliveryRecord)
  /// It is no dead letter.
  case refused(DeliveryRecord)
  case notFound
}

package struct DeliveryQuery: Sendable, Hashable {
  package var limit: Int
  package var startingAfter: DeliveryID?
  package var status: DeliveryStatus

  package init(limit: Int = Limits.pageSize, startingAfter: DeliveryID? = nil, status: DeliveryStatus = .dead) {
    self.limit = limit
    self.startingAfter = startingAfter
    self.status = status
  }
}

package struct DeliveryPage: Sendable, Hashable {
  package let deliveries: [DeliveryRecord]
  package let hasMore: Bool

  package init(deliveries: [DeliveryRecord], hasMore: Bool) {
    self.deliveries = deliveries
    self.hasMore = hasMore
  }
}

/// How much waits, of all relying parties, for the metrics.
package struct OutboxState: Sendable, Hashable {
  package let pending: Int
  package let dead: Int
  /// When the pending delivery that waits longest was begun.
  package let oldestPending: Timestamp?

  package init(pending: Int, dead: Int, oldestPending: Timestamp?) {
    self.pending = pending
    self.dead = dead
    self.oldestPending = oldestPending
  }
}
