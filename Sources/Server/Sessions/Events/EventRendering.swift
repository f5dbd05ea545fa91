import Base

/// Events and deliveries as the API shows them; an event is sent to webhooks in the same form.
struct EventRendering {
  let isLive: Bool

  func json(_ event: EventRecord) -> JSON {
    [
      "id": .string(event.id.text),
      "object": "event",
      "type": .string(event.id.type.rawValue),
      "created": .seconds(event.created),
      "livemode": .bool(isLive),
      "data": [
        "id": .string(event.id.session.text),
        "object": "verification_session",
        "status": .string(event.id.type.status.rawValue),
        "last_error": event.errorCode.map { ["code": .string($0)] } ?? .null,
      ],
    ]
  }

  func json(_ delivery: DeliveryRecord) -> JSON {
    [
      "id": .string(delivery.id.text),
      "object": "webhook_delivery",
      "livemode": .bool(isLive),
      "event": .string(delivery.event.id.text),
      "endpoint": .string(delivery.endpoint),
      "status": .string(delivery.status.rawValue),
      "attempts": .integer(Int64(delivery.attempts)),
      "created": .seconds(delivery.begun),
      "next_attempt_at": delivery.status == .pending ? .seconds(delivery.due) : .null,
      "last_failure": delivery.fault.map { fault in
        [
          "reason": .string(fault.reason.rawValue),
          "http_status": fault.httpStatus.map { .integer(Int64($0)) } ?? .null,
        ]
      } ?? .null,
    ]
  }

  func list(_ page: EventPage) -> JSON {
    ["object": "list", "data": .array(page.events.map { json($0) }), "has_more": .bool(page.hasMore)]
  }

  func list(_ page: DeliveryPage) -> JSON {
    ["object": "list", "data": .array(page.deliveries.map { json($0) }), "has_more": .bool(page.hasMore)]
  }
}
