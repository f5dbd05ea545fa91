import Base
import Cryptography

/// An event's id, from its session and type: `evt_…_verified`. The id is unique. Every process that writes the event
/// derives the same id.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "evt_"
  /// A regular expression (ECMA-262) that matches every id.
  package static let pattern = Base62.pattern(prefix: prefix, suffix: statuses)
  static let statuses = "_(\(EventType.allCases.map(\.status.rawValue).joined(separator: "|")))"
  package let session: SessionID
  package let type: EventType

  package init(_ session: SessionID, _ type: EventType) {
    self.session = session
    self.type = type
  }

  /// Nil if the text is malformed. Only the store knows whether the event exists.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    self.init(suffix: text.dropFirst(Self.prefix.count))
  }

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

package enum ResultPlace: String, Sendable, Hashable, CaseIterable {
  /// The result is in the reply to the submit request. Only retained values can be read later.
  case inline
  case waiting
}

/// A stored event. The record itself contains no personal or secret data. Redaction therefore keeps it. The relying
/// party's own texts are read from the session, until it is redacted.
package struct EventRecord: Sendable, Hashable {
  package let id: EventID
  package let relyingParty: String
  /// The time of the change. For an expiry, this time may be some seconds late.
  package let created: Timestamp
  package let errorCode: String?
  /// The location of the result; nil if there is no result, and in older events.
  package let result: ResultPlace?
  package var clientReferenceID: String?
  package var metadata: [NamedText]

  package init(
    id: EventID, relyingParty: String, created: Timestamp, errorCode: String?, result: ResultPlace? = nil,
    clientReferenceID: String? = nil, metadata: [NamedText] = []
  ) {
    self.id = id
    self.relyingParty = relyingParty
    self.created = created
    self.errorCode = errorCode
    self.result = result
    self.clientReferenceID = clientReferenceID
    self.metadata = metadata
  }
}

package struct EventQuery: Sendable, Hashable {
  package var limit = Limits.pageSize
  package var startingAfter: EventID?
  package var type: EventType?
}

package typealias EventPage = Page<EventRecord>

/// An event as a message of Standard Webhooks 1.0.0. Every attempt has the same id, so that a receiver recognizes
/// duplicates. The message's time is the time of the attempt, so that a receiver can refuse replays.
package struct EventMessage: Sendable {
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  package init(
    _ event: EventRecord, isLive: Bool, showsMetadata: Bool, secrets: [WebhookSecret], at now: Timestamp
  ) {
    body = EventRendering(isLive: isLive, showsMetadata: showsMetadata).json(event).serialized()
    headers = [
      ("content-type", "application/json"), ("webhook-id", event.id.text),
      ("webhook-timestamp", "\(now.secondsSince1970)"),
      ("webhook-signature", Self.signatures(of: body, id: event.id.text, at: now, by: secrets)),
    ]
  }

  /// One signature for each secret: `v1,` and the base64 of an HMAC-SHA256 over id, time and body, which are separated
  /// by dots.
  static func signatures(of body: [UInt8], id: String, at time: Timestamp, by secrets: [WebhookSecret]) -> String {
    let content = Array("\(id).\(time.secondsSince1970).".utf8) + body
    return secrets.map { "v1," + Base64.encode($0.authenticate(content)) }.joined(separator: " ")
  }
}

/// Events and deliveries in replies and webhook messages.
struct EventRendering {
  let isLive: Bool
  /// Whether the relying party's events carry `metadata`.
  let showsMetadata: Bool

  func json(_ event: EventRecord) -> JSON { Self.event.write(shown(event)) }
  func json(_ delivery: DeliveryRecord) -> JSON { Self.delivery.write(shown(delivery)) }

  func list(_ page: EventPage) -> JSON { Self.eventList.write(shown(page)) }
  func list(_ page: DeliveryPage) -> JSON { Self.deliveryList.write(shown(page)) }

  private func shown<Value>(_ page: Page<Value>) -> Page<Shown<Value>> {
    Page(entries: page.entries.map(shown), hasMore: page.hasMore)
  }

  private func shown<Value>(_ value: Value) -> Shown<Value> {
    Shown(value: value, isLive: isLive, showsMetadata: showsMetadata)
  }

  /// A stored record, with the server's mode and the relying party's choice about `metadata`.
  struct Shown<Value: Sendable>: Sendable {
    let value: Value
    let isLive: Bool
    let showsMetadata: Bool
  }

  static let event = Shape<Shown<EventRecord>>.open(
    "Event", "A change of a session, as it is listed and as it is sent to webhooks.",
    [
      .always("id", \.value.id.text, .written(like: EventID.pattern), "The event's id, the same in every delivery."),
      .always("object", { _ in "event" }, .kind, "`event`."),
      .always("type", \.value.id.type, .word, "The event's type. Ignore types that you do not know."),
      .always("created", \.value.created, .seconds, "The time at which the event was written, in Unix seconds."),
      .always("livemode", \.isLive, .flag, "Whether the server runs in live mode."),
      .always("data", { $0 }, session, "The session's data at the time of the event."),
    ])

  static let eventList = Page.shape(of: event, "EventList")

  private static let session = Shape<Shown<EventRecord>>.open(
    "EventSession",
    "The session that an event is about. It contains no personal data, unless your own texts are personal.",
    [
      .always("id", \.value.id.session.text, .written(like: SessionID.pattern), "The session's id."),
      .always("object", { _ in "verification_session" }, .kind, "`verification_session`."),
      .always(
        "status", \.value.id.type.status.rawValue, .written(EventType.allCases.map(\.status.rawValue)),
        "The session's status after the event."),
      .orNull(
        "client_reference_id", \.value.clientReferenceID, .written(),
        "Your own id for the session; null if you gave none or the session was redacted."),
      .ifAny(
        "metadata", { $0.showsMetadata ? $0.value.metadata : nil }, .metadata,
        "Your own texts, if your configuration has `metadata_in_events`."),
      .orNull(
        "last_error", { $0.value.errorCode.map { LastError(code: $0) } }, LastError.shape,
        "The code of the failure or cancellation; null if there was none."),
      .ifAny(
        "result", \.value.result, .word,
        "Where to read a verified session's result. `waiting`: with `expand[]=result`. `inline`: in the reply to the "
          + "submit; later only the retained values can be read."),
    ])

  static let delivery = Shape<Shown<DeliveryRecord>>.open(
    "WebhookDelivery", "The delivery of one event to one endpoint.",
    [
      .always("id", \.value.id.text, .written(like: DeliveryID.pattern), "Names the delivery."),
      .always("object", { _ in "webhook_delivery" }, .kind, "`webhook_delivery`."),
      .always("livemode", \.isLive, .flag, "Whether the server runs in live mode."),
      .always("event", \.value.event.id.text, .written(like: EventID.pattern), "The event that is delivered."),
      .always("endpoint", \.value.endpoint, .written(), "The endpoint's id in the configuration."),
    ] + progress)

  private static let progress: [WrittenMember<Shown<DeliveryRecord>>] = [
    .always("status", \.value.status, .word, "`dead` if the last attempt failed. Only you can retry it."),
    .always("attempts", \.value.attempts, .count, "The number of attempts since the delivery was last started."),
    .always("created", \.value.begun, .seconds, "The time at which the delivery was started, in Unix seconds."),
    .orNull(
      "next_attempt_at", { $0.value.status == .pending ? $0.value.due : nil }, .seconds,
      "The time of the next attempt, in Unix seconds; null if there is none."),
    .orNull("last_failure", \.value.fault, failure, "The failure of the last attempt; null if it did not fail."),
  ]

  static let deliveryList = Page.shape(of: delivery, "WebhookDeliveryList")

  private static let failure = Shape<DeliveryFault>.open(
    "WebhookFailure", "The failure of an attempt to deliver an event.",
    [
      .always("reason", \.reason, .word, "The kind of failure."),
      .orNull("http_status", \.httpStatus, .count, "The endpoint's HTTP status; null if it sent none."),
    ])
}
