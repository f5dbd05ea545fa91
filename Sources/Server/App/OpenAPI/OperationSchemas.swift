import Base
import Sessions

/// What clients send besides what creates a session.
enum RequestSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("CancelVerificationSession", cancellation),
    .init("Nothing", Part.object([:])), .init("ElementReference", elementReference),
  ]

  private static let elementReference = Part.object(["namespace": Part.text, "identifier": Part.text])

  private static let cancellation = Part.object(
    [
      "reason": Part.described(
        Part.orNull(Part.oneOf("CancelReason", CancelReason.allCases.map(\.rawValue))),
        "What the wallet told the app or page: the person declined, it was not available, or it failed. Required with a "
          + "client secret.")
    ], optional: ["reason"])
}

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

/// Trust anchors, health, and the problem that every refusal is.
enum OperationSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("ConfigurationLoad", Part.object(["loaded_at": Part.seconds, "relying_parties": Part.count])),
    .init("TrustAnchorList", anchors), .init("TrustLoad", load), .init("TrustAnchor", anchor),
    .init("Health", Part.object(["status": Part.constant("ok"), "livemode": Part.flag])),
    .init(
      "Readiness",
      Part.object([
        "status": Part.oneOf("ReadinessStatus", ["ready", "degraded"]), "livemode": Part.flag,
        "trust_anchors": Part.count,
        "reader_certificates": Part.reference("PartyCertificates"),
        "merchant_certificates": Part.reference("PartyCertificates"),
        "configuration": Part.object(
          "ConfigurationState",
          [
            "is_current": [
              "type": "boolean",
              "description": "Whether the latest reading of the file was put in force; if not, the status is degraded.",
            ],
            "loaded_at": Part.seconds,
          ]),
      ])),
    .init("PartyCertificates", partyCertificates),
    .init("OpenAPIDocument", ["type": "object", "description": "OpenAPI 3.1."]),
    .init("Problem", problem), .init("ProblemCode", problemCode),
  ]

  private static let partyCertificates = Part.object([
    "count": Part.count,
    "expired": ["type": "integer", "description": "Those not valid now: a reader's signs no request."],
    "expiring": ["type": "integer", "description": "Those that end, or whose chain does, within 30 days."],
  ])

  private static let anchors = Part.object([
    "object": Part.constant("list"), "livemode": Part.flag, "trust_snapshot": Part.sha256,
    "data": Part.list(of: Part.reference("TrustAnchor")), "has_more": Part.flag,
    "loaded": Part.reference("TrustLoad"),
  ])

  private static let load = Part.object([
    "loaded_at": Part.seconds,
    "is_current": ["type": "boolean", "description": "Whether the latest load was put in force."],
    "sources": Part.list(
      of: Part.object(
        "TrustSource",
        [
          "name": Part.text, "outcome": Part.oneOf("TrustSourceOutcome", ["loaded", "kept", "failed"]),
          "anchors": Part.count,
          "entries_left_out": ["type": "integer", "description": "Of a list: those that can't be used, and why."],
          "valid_until": Part.secondsOrNull,
          "findings": Part.list(
            of: Part.object(
              "TrustFinding",
              [
                "code": Part.text, "outcome": Part.oneOf("TrustFindingOutcome", ["failed", "warning"]),
                "clause": Part.text,
                "detail": Part.text,
              ], optional: ["detail"])),
        ])),
  ])

  private static let anchor = Part.object([
    "object": Part.constant("trust_anchor"),
    "subject": Part.text,
    "sha256": Part.sha256,
    "doc_types": Part.described(
      Part.orNull(Part.list(of: Part.text)), "What it may vouch for; null: any type."),
    "source": Part.text,
    "valid_from": Part.seconds,
    "kind": Part.oneOf("TrustAnchorKind", ["authority", "document_signer"]),
    "expires_at": Part.seconds,
    "listed_until": Part.described(
      Part.secondsOrNull, "The end of the published list that names it, in Unix seconds; null: it is configured."),
  ])

  /// RFC 9457, with our members.
  private static let problem = Part.object(
    [
      "type": Part.text(like: "^urn:mdoc:problem:[a-z0-9_.]+$"),
      "title": Part.text,
      "status": Part.number(400...599),
      "detail": Part.text,
      "code": Part.reference("ProblemCode"),
      "request_id": ["type": "string", "description": "As in the header `Request-Id`."],
      "errors": Part.list(
        of: Part.object(
          "ProblemPointer",
          [
            "pointer": ["type": "string", "description": "Of the member that is wrong (RFC 6901)."],
            "detail": Part.text,
          ]), 1...Limits.reportedFaults),
    ], optional: ["errors"])

  private static let problemCode = Part.code(
    Code.allCases.filter { $0.httpStatus >= 400 }, "Why the request is refused; each reply lists its own.")
}
