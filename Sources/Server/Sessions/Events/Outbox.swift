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

  /// Takes the oldest events that were not distributed yet, at most `limit`, and makes a delivery of each to every
  /// endpoint that subscribes now, in one transaction. So an event goes to the endpoints that were configured when it
  /// happened, or shortly after. Returns how many events it took.
  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int

  /// Claims due deliveries, at most `limit`, in the order of the quotas; of one endpoint, those due longest come first.
  /// A claim holds for `Limits.deliveryLease` seconds: until then no other process gets the delivery, afterwards any
  /// may. Counts the attempt.
  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord]

  /// Writes what an attempt came to. Returns false and writes nothing if the claim has lapsed and another process has
  /// the delivery.
  func recordDelivery(
    _ claimed: DeliveryRecord, _ result: AttemptResult
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

  package func includes(_ event: EventRecord) -> Bool {
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
package enum AttemptResult: Sendable, Hashable {
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

/// The name of one event's delivery to one endpoint, `whd_…_verified_main`.
package struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "whd_"
  /// All that an id can be, as a regular expression (ECMA-262).
  package static let pattern = RandomName.pattern(
    prefix: prefix, suffix: EventID.statuses + "_[A-Za-z0-9._-]{1,\(Limits.webhookIDCharacters)}")
  package let event: EventID
  /// The endpoint's id in the configuration.
  package let endpoint: String

  package init(_ event: EventID, to endpoint: String) {
    self.event = event
    self.endpoint = endpoint
  }

  /// The id, or nil where the text cannot be one; whether it exists only the store knows.
  package init?(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] + "_" == Self.prefix, WebhookEndpoint.isID(parts[3]),
      let event = EventID(suffix: parts[1] + "_" + parts[2])
    else { return nil }
    self.init(event, to: String(parts[3]))
  }

  package var text: String { "\(Self.prefix)\(event.suffix)_\(endpoint)" }
  package var description: String { text }
}

package enum DeliveryStatus: String, Sendable, Hashable, CaseIterable {
  /// To be tried when it is due; while it is being tried, it is due again at the end of the lease.
  case pending
  case delivered
  /// Given up: a dead letter, tried again only when somebody asks for it.
  case dead
}

/// Why an attempt came to nothing.
package struct DeliveryFault: Sendable, Hashable {
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The server may not connect to the endpoint's address.
    case notAllowed = "not_allowed"
    /// No answer came, or none in time.
    case unavailable
    /// The answer is a redirect. Redirects are never followed.
    case redirected
    /// Any other answer than 2xx.
    case refused
    /// 410: the receiver wants no more of it.
    case gone
    /// Nobody tried: the endpoint is no longer configured.
    case abandoned
  }

  package let reason: Reason
  /// The HTTP status of the answer; nil if none came.
  package let httpStatus: Int?

  package init(_ reason: Reason, httpStatus: Int? = nil) {
    self.reason = reason
    self.httpStatus = httpStatus
  }
}

/// A delivery as it is stored. `attempts` and `due` together also name the claim: whoever records the end of an attempt
/// gives back the record as it was claimed.
package struct DeliveryRecord: Sendable, Hashable {
  package let event: EventRecord
  package let endpoint: String
  package var status: DeliveryStatus
  /// How many attempts were made since `begun`, with the one under way.
  package var attempts: Int
  /// When it was made, or asked for again.
  package var begun: Timestamp
  /// When a pending delivery is tried next.
  package var due: Timestamp
  /// Why the last attempt that ended failed; nil if it succeeded, or if none has ended.
  package var fault: DeliveryFault?

  package init(
    event: EventRecord, endpoint: String, status: DeliveryStatus = .pending, attempts: Int = 0, begun: Timestamp,
    due: Timestamp, fault: DeliveryFault? = nil
  ) {
    self.event = event
    self.endpoint = endpoint
    self.status = status
    self.attempts = attempts
    self.begun = begun
    self.due = due
    self.fault = fault
  }

  package var id: DeliveryID { DeliveryID(event.id, to: endpoint) }
}
