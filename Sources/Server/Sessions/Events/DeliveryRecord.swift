import Base

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
    /// The endpoint's address is none that may be asked.
    case notAllowed = "not_allowed"
    /// No answer came, or none in time.
    case unavailable
    /// The answer leads elsewhere; nobody is followed.
    case redirected
    /// Any other answer than 2xx.
    case refused
    /// 410: the receiver wants no more of it.
    case gone
    /// Nobody tried: the endpoint is configured no more.
    case abandoned
  }

  package let reason: Reason
  /// The answer's, where one came.
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
  /// Since it was begun, the one under way included.
  package var attempts: Int
  /// When it was made, or asked for again.
  package var begun: Timestamp
  /// Of a pending one.
  package var due: Timestamp
  /// What the last attempt that ended came to, if to nothing.
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
