import Base
import Sessions

/// Events, as they are listed and as they are sent to webhooks, and their deliveries.
enum EventSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("Event", event), .init("EventType", Part.oneOf(EventType.allCases.map(\.rawValue))),
    .init("EventList", Part.listObject(of: "Event")),
    .init("WebhookDeliveryStatus", Part.oneOf(DeliveryStatus.allCases.map(\.rawValue))),
    .init("WebhookDelivery", delivery), .init("WebhookDeliveryList", Part.listObject(of: "WebhookDelivery")),
  ]

  private static let event = Part.object([
    "id": Part.text(like: EventID.pattern),
    "object": Part.constant("event"),
    "type": Part.reference("EventType"),
    "created": Part.seconds,
    "livemode": Part.flag,
    "data": Part.object(
      "EventSession",
      [
        "id": Part.text(like: SessionID.pattern),
        "object": Part.constant("verification_session"),
        "status": Part.oneOf("EventSessionStatus", EventType.allCases.map(\.status.rawValue)),
        "last_error": Part.orNull(Part.reference("LastErrorCode")),
      ]),
  ])

  private static let delivery = Part.object([
    "id": Part.text(like: DeliveryID.pattern),
    "object": Part.constant("webhook_delivery"),
    "livemode": Part.flag,
    "event": Part.text(like: EventID.pattern),
    "endpoint": ["type": "string", "description": "The endpoint's id in the configuration."],
    "status": Part.reference("WebhookDeliveryStatus"),
    "attempts": Part.count,
    "created": Part.seconds,
    "next_attempt_at": Part.secondsOrNull,
    "last_failure": Part.orNull(
      Part.object(
        "WebhookFailure",
        [
          "reason": Part.oneOf("WebhookFailureReason", DeliveryFault.Reason.allCases.map(\.rawValue)),
          "http_status": Part.orNull(Part.count),
        ])),
  ])
}
