import Base

/// An event as it is stored: what happened to which session, when, and the code of the failure. Nothing in it is
/// personal, and nothing of it is secret, so that redaction leaves it.
package struct EventRecord: Sendable, Hashable {
  package let id: EventID
  package let relyingParty: String
  /// When it was written, with the change that it tells: of what time did, up to some seconds later.
  package let created: Timestamp
  /// The code of the session's `last_error`, where it had one.
  package let errorCode: String?

  package init(id: EventID, relyingParty: String, created: Timestamp, errorCode: String?) {
    self.id = id
    self.relyingParty = relyingParty
    self.created = created
    self.errorCode = errorCode
  }

  /// The event of a change that was written at `now`; nil for a state that is no end.
  package init?(of address: SessionAddress, _ state: SessionState, at now: Timestamp) {
    guard let type = EventType(state.status) else { return nil }
    self.init(
      id: EventID(address.id, type), relyingParty: address.relyingParty, created: now,
      errorCode: state.lastError?.code)
  }
}

package struct EventQuery: Sendable, Hashable {
  package var limit: Int
  package var startingAfter: EventID?
  package var type: EventType?

  package init(limit: Int = Limits.pageSize, startingAfter: EventID? = nil, type: EventType? = nil) {
    self.limit = limit
    self.startingAfter = startingAfter
    self.type = type
  }
}

package struct EventPage: Sendable, Hashable {
  package let events: [EventRecord]
  package let hasMore: Bool

  package init(events: [EventRecord], hasMore: Bool) {
    self.events = events
    self.hasMore = hasMore
  }
}
