import Base

/// Events and deliveries as the API shows them; an event is sent to webhooks in the same form.
struct EventRendering {
  let isLive: Bool

  func json(_ event: EventRecord) -> JSON { Self.event.write(Shown(value: event, isLive: isLive)) }
  func json(_ delivery: DeliveryRecord) -> JSON { Self.delivery.write(Shown(value: delivery, isLive: isLive)) }

  func list(_ page: EventPage) -> JSON {
    Self.eventList.write(Listed(data: page.events.map { Shown(value: $0, isLive: isLive) }, hasMore: page.hasMore))
  }

  func list(_ page: DeliveryPage) -> JSON {
    Self.deliveryList.write(
      Listed(data: page.deliveries.map { Shown(value: $0, isLive: isLive) }, hasMore: page.hasMore))
  }

  /// A record, and the mode of the server that shows it.
  struct Shown<Value: Sendable>: Sendable {
    let value: Value
    let isLive: Bool
  }

  // MARK: The forms

  static let event = Shape<Shown<EventRecord>>.open(
    "Event", "A change of a session, as it is listed and as it is sent to webhooks.",
    [
      .always(
        "id", \.value.id.text, .written(like: EventID.pattern), "Names the event; the same in every delivery."),
      .always("object", { _ in "event" }, .kind, "`event`."),
      .always(
        "type", \.value.id.type.rawValue, .written(EventType.allCases.map(\.rawValue)),
        "What happened. Ignore types that you do not know."),
      .always("created", \.value.created, .seconds, "When the event was written, in Unix seconds."),
      .always("livemode", \.isLive, .flag, "Whether the server runs in live mode."),
      .always("data", \.value, session, "The session, as it then was."),
    ])

  static let eventList = Listed.shape(of: event, "EventList")

  private static let session = Shape<EventRecord>.open(
    "EventSession", "The session that an event is about. Nothing in it is personal.",
    [
      .always("id", \.id.session.text, .written(like: SessionID.pattern), "The session's id."),
      .always("object", { _ in "verification_session" }, .kind, "`verification_session`."),
      .always(
        "status", \.id.type.status.rawValue, .written(EventType.allCases.map(\.status.rawValue)),
        "The session's status after the event."),
      .orNull(
        "last_error", { $0.errorCode.map(LastErrorView.init(code:)) }, LastErrorView.shape,
        "Why it failed or was canceled, by code only; null if it was not."),
      .ifAny(
        "result", \.result?.rawValue, .written(ResultPlace.allCases.map(\.rawValue)),
        "Where the result of a verified session is: `inline` in the reply to the submit, later no more than the policy "
          + "retains; `waiting` if `expand[]=result` reads it."),
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
    .always(
      "status", \.value.status.rawValue, .written(DeliveryStatus.allCases.map(\.rawValue)),
      "`dead` after the last attempt failed: retry it by hand."),
    .always("attempts", \.value.attempts, .count, "Attempts made since the delivery was last begun."),
    .always("created", \.value.begun, .seconds, "When the delivery was begun, in Unix seconds."),
    .orNull(
      "next_attempt_at", { $0.value.status == .pending ? $0.value.due : nil }, .seconds,
      "When the next attempt is made, in Unix seconds; null if there is none."),
    .orNull("last_failure", \.value.fault, failure, "Why the last attempt failed; null if none did."),
  ]

  static let deliveryList = Listed.shape(of: delivery, "WebhookDeliveryList")

  private static let failure = Shape<DeliveryFault>.open(
    "WebhookFailure", "Why an attempt to deliver an event failed.",
    [
      .always(
        "reason", \.reason.rawValue, .written(DeliveryFault.Reason.allCases.map(\.rawValue)), "The kind of failure."),
      .orNull("http_status", \.httpStatus, .count, "The endpoint's HTTP status; null if it sent none."),
    ])
}
