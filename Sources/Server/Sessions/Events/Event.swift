import Base
import Cryptography

/// What happened to a session. A session ends once and is redacted at most once, so that it has at most one event of a
/// type.
package enum EventType: String, Sendable, Hashable, CaseIterable {
  case verified = "verification_session.verified"
  case failed = "verification_session.failed"
  case canceled = "verification_session.canceled"
  case expired = "verification_session.expired"
  case redacted = "verification_session.redacted"

  /// The status that the session then had. Stores keep the type as its name.
  package var status: SessionStatus {
    switch self {
    case .verified: .verified
    case .failed: .failed
    case .canceled: .canceled
    case .expired: .expired
    case .redacted: .redacted
    }
  }

  /// Nil for what is no end: a session that waits or is being answered.
  package init?(_ status: SessionStatus) {
    guard let type = Self.allCases.first(where: { $0.status == status }) else { return nil }
    self = type
  }
}

/// An event's name, `evt_…_verified`: made of the session's, so that it is unique, and the same whoever writes it.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "evt_"
  /// All that an id can be, as a regular expression (ECMA-262).
  package static let pattern = RandomName.pattern(prefix: prefix, suffix: statuses)
  /// What follows the session's name.
  static let statuses = "_(\(EventType.allCases.map(\.status.rawValue).joined(separator: "|")))"
  package let session: SessionID
  package let type: EventType

  package init(_ session: SessionID, _ type: EventType) {
    self.session = session
    self.type = type
  }

  /// The id, or nil where the text cannot be one; whether it exists only the store knows.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    self.init(suffix: text.dropFirst(Self.prefix.count))
  }

  /// What follows the prefix.
  init?(suffix: Substring) {
    let parts = suffix.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let session = SessionID(SessionID.prefix + parts[0]),
      let type = SessionStatus(rawValue: String(parts[1])).flatMap(EventType.init)
    else { return nil }
    self.init(session, type)
  }

  var suffix: String { "\(session.characters)_\(type.status.rawValue)" }

  package var text: String { Self.prefix + suffix }
  package var description: String { text }
}

/// Where the result of a verified session is.
package enum ResultPlace: String, Sendable, Hashable, CaseIterable {
  /// In the reply to the submit, and nowhere else.
  case inline
  /// It waits for `expand[]=result`.
  case waiting
}

/// An event as it is stored: what happened to which session, when, and the code of the failure. Nothing in it is
/// personal, and nothing of it is secret, so that redaction leaves it.
package struct EventRecord: Sendable, Hashable {
  package let id: EventID
  package let relyingParty: String
  /// When it was written, together with the change that it tells. A change that time made, such as an expiry, is
  /// written up to some seconds later.
  package let created: Timestamp
  /// The code of the session's `last_error`, where it had one.
  package let errorCode: String?
  /// Where the result of a verified session is; nil if there is none, and in events from before this was kept.
  package let result: ResultPlace?

  package init(
    id: EventID, relyingParty: String, created: Timestamp, errorCode: String?, result: ResultPlace? = nil
  ) {
    self.id = id
    self.relyingParty = relyingParty
    self.created = created
    self.errorCode = errorCode
    self.result = result
  }

  /// The event of a change that was written at `now`; nil for a state that is no end.
  package init?(
    of address: SessionAddress, _ state: SessionState, result: ResultPlace? = nil, at now: Timestamp
  ) {
    guard let type = EventType(state.status) else { return nil }
    self.init(
      id: EventID(address.id, type), relyingParty: address.relyingParty, created: now,
      errorCode: state.lastError?.code, result: result)
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

/// An event as it is sent to an endpoint: a message of Standard Webhooks 1.0.0.
///
/// The id is the event's and the same in every attempt, so that a receiver can tell what it has had already; the time
/// is the attempt's, so that it can refuse what somebody repeats later.
package struct EventMessage: Sendable {
  /// `webhook-id`, `webhook-timestamp`, `webhook-signature`, `content-type`.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  package init(_ event: EventRecord, isLive: Bool, secrets: [WebhookSecret], at now: Timestamp) {
    body = EventRendering(isLive: isLive).json(event).serialized()
    headers = [
      ("content-type", "application/json"),
      ("webhook-id", event.id.text),
      ("webhook-timestamp", "\(now.secondsSince1970)"),
      ("webhook-signature", Self.signatures(of: body, id: event.id.text, at: now, by: secrets)),
    ]
  }

  /// `v1,` and the base64 of an HMAC-SHA256 over id, time and body with dots between, once for each secret.
  static func signatures(of body: [UInt8], id: String, at time: Timestamp, by secrets: [WebhookSecret]) -> String {
    let content = Array("\(id).\(time.secondsSince1970).".utf8) + body
    return secrets.map { "v1," + Base64.encode($0.authenticate(content)) }.joined(separator: " ")
  }
}
