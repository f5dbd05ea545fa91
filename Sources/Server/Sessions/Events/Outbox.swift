import Base
import Cryptography
import Trust

/// The events of sessions, and the outbox for their delivery. The store writes an event in the same transaction as the
/// change that the event reports. `sweep` deletes events, with their deliveries, after `Limits.eventRetention`.
package protocol EventStore: Sendable {
  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord?

  /// A page of one relying party's events, newest first; nil if `startingAfter` is not one of them.
  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage?

  /// Creates a delivery to every subscriber for each of the oldest new events, at most `limit` events. Returns the
  /// number of events.
  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int

  /// Claims at most `limit` due deliveries, and for each endpoint at most its quota. Endpoints come in the order of
  /// `quotas`, and the oldest deliveries of each come first. Counts each claim as an attempt. No other process gets a
  /// claimed delivery for `Limits.deliveryLease` seconds.
  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord]

  /// Records the result of an attempt. Returns false if another process has claimed the delivery since.
  func recordDelivery(_ claimed: DeliveryRecord, _ result: AttemptResult) async throws(StoreError) -> Bool

  /// A page of deliveries of one status, newest events first; nil if `startingAfter` is not one of them.
  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage?

  /// Makes a dead letter pending again, and due at once.
  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry

  func outboxState() async throws(StoreError) -> OutboxState
}

package struct WebhookAddress: Sendable, Hashable {
  package let relyingParty: String
  package let endpoint: String

  package init(relyingParty: String, endpoint: String) {
    self.relyingParty = relyingParty
    self.endpoint = endpoint
  }
}

package struct WebhookSubscription: Sendable, Hashable {
  package let address: WebhookAddress
  package let types: Set<EventType>
}

/// The maximum number of deliveries to claim for one endpoint.
package struct DeliveryQuota: Sendable, Hashable {
  package let address: WebhookAddress
  package let limit: Int

  package init(address: WebhookAddress, limit: Int) {
    self.address = address
    self.limit = limit
  }
}

package enum AttemptResult: Sendable, Hashable {
  case delivered
  case retry(at: Timestamp, DeliveryFault)
  case dead(DeliveryFault)
}

package enum DeliveryRetry: Sendable, Hashable {
  case begun(DeliveryRecord)
  /// The delivery is not a dead letter.
  case refused(DeliveryRecord)
  case notFound
}

package struct DeliveryQuery: Sendable, Hashable {
  package var limit = Limits.pageSize
  package var startingAfter: DeliveryID?
  package var status: DeliveryStatus?
  /// Limits the query to deliveries of this event.
  package var event: EventID?

  /// The status to filter by; nil for every status. The default is dead letters, or every status if the query specifies
  /// an event.
  package var statusInForce: DeliveryStatus? { status ?? (event == nil ? .dead : nil) }
}

package typealias DeliveryPage = Page<DeliveryRecord>

/// Queue lengths over all relying parties, for the metrics.
package struct OutboxState: Sendable, Hashable {
  package let pending: Int
  package let dead: Int
  package let oldestPending: Timestamp?

  package init(pending: Int, dead: Int, oldestPending: Timestamp?) {
    self.pending = pending
    self.dead = dead
    self.oldestPending = oldestPending
  }
}

/// The id of one event's delivery to one endpoint: `whd_…_verified_main`.
package struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "whd_"
  /// A regular expression (ECMA-262) that matches every id.
  package static let pattern = Base62.pattern(
    prefix: prefix, suffix: EventID.statuses + "_[A-Za-z0-9._-]{1,\(Limits.webhookIDCharacters)}")
  package let event: EventID
  package let endpoint: String

  package init(_ event: EventID, to endpoint: String) {
    self.event = event
    self.endpoint = endpoint
  }

  /// Nil if the text is malformed. Only the store knows whether the delivery exists.
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
  /// The delivery is attempted when it is due. During an attempt, it is due at the end of the lease.
  case pending
  case delivered
  case dead
}

package struct DeliveryFault: Sendable, Hashable {
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    case notAllowed = "not_allowed"
    case unavailable
    /// Redirects are never followed.
    case redirected
    /// A status other than 2xx.
    case refused
    case gone
    /// Not attempted: the endpoint is no longer configured.
    case abandoned
  }

  package let reason: Reason
  /// The status of the reply; nil if no reply came.
  package let httpStatus: Int?

  package init(_ reason: Reason, httpStatus: Int? = nil) {
    self.reason = reason
    self.httpStatus = httpStatus
  }
}

/// A stored delivery. `attempts` and `due` also identify the claim, so return the claimed record unchanged.
package struct DeliveryRecord: Sendable, Hashable {
  package var event: EventRecord
  package let endpoint: String
  package var status: DeliveryStatus
  /// The number of attempts since `begun`, including the current attempt.
  package var attempts: Int
  /// The time when the delivery was created, or when the relying party last retried it.
  package var begun: Timestamp
  /// The time of the next attempt of a pending delivery.
  package var due: Timestamp
  /// The failure of the last finished attempt; nil if it succeeded, or if no attempt has finished.
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

/// An endpoint for a relying party's events, and the secrets that authenticate the messages.
package struct WebhookEndpoint: Sendable {
  /// At most `Limits.webhookIDCharacters` letters, digits, `-`, `.` and `_`. An endpoint with a new id is a new
  /// endpoint.
  package let id: String
  package let url: String
  /// Each secret signs every message. During a rotation there are two: the current secret and its predecessor.
  package let secrets: [WebhookSecret]
  package let types: Set<EventType>
  /// Allowed targets in addition to public hosts on port 443.
  package let targets: InternalTargets

  package init(
    id: String, url: String, secrets: [WebhookSecret], types: Set<EventType> = Set(EventType.allCases),
    targets: InternalTargets = .none
  ) {
    self.id = id
    self.url = url
    self.secrets = secrets
    self.types = types
    self.targets = targets
  }

  /// The endpoint's id is part of a delivery's id, and therefore of a URL.
  package static func isID(_ text: some StringProtocol) -> Bool {
    (1...Limits.webhookIDCharacters).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0.isAlphanumeric || "-_.".utf8.contains($0) }
  }
}

extension RelyingParty {
  package func subscription(of endpoint: WebhookEndpoint) -> WebhookSubscription {
    WebhookSubscription(address: WebhookAddress(relyingParty: id, endpoint: endpoint.id), types: endpoint.types)
  }
}

/// A symmetric secret of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes.
package final class WebhookSecret: Sendable {
  package static let prefix = "whsec_"
  package static let lengths = 24...64
  private let key: SecretBytes

  package init?(_ key: consuming SecretBytes) {
    guard Self.lengths.contains(key.count) else { return nil }
    self.key = key
  }

  package convenience init?(_ text: String) {
    guard let key = SecretBytes(copying: Array(text.utf8)).withUnsafeBytes({ Self.key(in: $0) }) else { return nil }
    self.init(key)
  }

  /// Reads a file's content, without white space at its end.
  package convenience init?(content: UnsafeRawBufferPointer) {
    guard let key = Self.key(in: content.withoutTrailingSpace) else { return nil }
    self.init(key)
  }

  private static func key(in text: UnsafeRawBufferPointer) -> SecretBytes? {
    guard text.starts(with: prefix.utf8) else { return nil }
    return SecretBytes.decoding(base64: UnsafeRawBufferPointer(rebasing: text.dropFirst(prefix.utf8.count)))
  }

  /// The text of the secret, for the receiver.
  package var exposed: String { Self.prefix + Base64.encode(key.exposed()) }

  func authenticate(_ content: [UInt8]) -> [UInt8] { HMAC.authenticate(content, key: key, hash: .sha256) }
}
