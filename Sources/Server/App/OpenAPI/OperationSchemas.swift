import Base
import Sessions

/// Bodies that clients send, apart from the one that creates a session.
enum RequestSchemas {
  static let all: [Schema.Member] = [
    .init("CancelVerificationSession", cancellation),
    .init("Nothing", .object([:])), .init("ElementReference", elementReference),
  ]

  private static let elementReference: Schema = .object(["namespace": .text, "identifier": .text])

  private static let cancellation: Schema = .object(
    [
      "reason": .oneOf("CancelReason", CancelReason.allCases.map(\.rawValue)).orNull.described(
        "What the wallet told the app or page: the person declined, it was not available, or it failed. Required with a "
          + "client secret.")
    ], optional: ["reason"])
}

/// Events, as they are listed and as they are sent to webhooks, and their deliveries.
enum EventSchemas {
  static let all: [Schema.Member] = [
    .init("Event", event), .init("EventType", .oneOf(EventType.allCases.map(\.rawValue))),
    .init("EventList", .listObject(of: "Event")),
    .init("WebhookDeliveryStatus", .oneOf(DeliveryStatus.allCases.map(\.rawValue))),
    .init("WebhookDelivery", delivery), .init("WebhookDeliveryList", .listObject(of: "WebhookDelivery")),
  ]

  private static let event: Schema = .object([
    "id": .text(like: EventID.pattern),
    "object": .constant("event"),
    "type": .reference("EventType"),
    "created": .seconds,
    "livemode": .flag,
    "data": .object(
      "EventSession",
      [
        "id": .text(like: SessionID.pattern),
        "object": .constant("verification_session"),
        "status": .oneOf("EventSessionStatus", EventType.allCases.map(\.status.rawValue)),
        "last_error": .reference("LastErrorCode").orNull,
      ]),
  ])

  private static let delivery: Schema = .object([
    "id": .text(like: DeliveryID.pattern),
    "object": .constant("webhook_delivery"),
    "livemode": .flag,
    "event": .text(like: EventID.pattern),
    "endpoint": .text.described("The endpoint's id in the configuration."),
    "status": .reference("WebhookDeliveryStatus"),
    "attempts": .count,
    "created": .seconds,
    "next_attempt_at": .seconds.orNull,
    "last_failure": .object(
      "WebhookFailure",
      [
        "reason": .oneOf("WebhookFailureReason", DeliveryFault.Reason.allCases.map(\.rawValue)),
        "http_status": .count.orNull,
      ]
    ).orNull,
  ])
}

/// Schemas of trust anchors, health and problems.
enum OperationSchemas {
  static let all: [Schema.Member] = [
    .init("ConfigurationLoad", .object(["loaded_at": .seconds, "relying_parties": .count])),
    .init("TrustAnchorList", anchors), .init("TrustLoad", load), .init("TrustAnchor", anchor),
    .init("Health", .object(["status": .constant("ok"), "livemode": .flag, "mode": .reference("ServerMode")])),
    .init(
      "Readiness",
      .object([
        "status": .oneOf("ReadinessStatus", ["ready", "degraded"]), "livemode": .flag, "mode": .reference("ServerMode"),
        "trust_anchors": .count,
        "reader_certificates": .reference("PartyCertificates"),
        "merchant_certificates": .reference("PartyCertificates"),
        "registration_certificates": .reference("PartyCertificates"),
        "configuration": .object(
          "ConfigurationState",
          [
            "is_current": .flag.described(
              "Whether the latest reading of the file was put in force; if not, the status is degraded."),
            "loaded_at": .seconds,
          ]),
      ])),
    .init("ServerMode", serverMode), .init("PartyCertificates", partyCertificates),
    .init("OpenAPIDocument", ["type": "object", "description": "OpenAPI 3.1."]),
    .init("Problem", problem), .init("ProblemCode", problemCode),
  ]

  private static let serverMode = Schema.oneOf(ServerMode.allCases.map(\.rawValue)).described(
    "`livemode` is true in live alone: in staging documents of sandboxes verify, in test those of a mock authority.")

  private static let partyCertificates: Schema = .object([
    "count": .count,
    "expired": .count.described("Those not valid now: a reader's signs no request."),
    "expiring": .count.described("Those that end, or whose chain does, within 30 days."),
  ])

  private static let anchors: Schema = .object([
    "object": .constant("list"), "livemode": .flag, "trust_snapshot": .sha256,
    "data": .list(of: .reference("TrustAnchor")), "has_more": .flag,
    "loaded": .reference("TrustLoad"),
  ])

  private static let load: Schema = .object([
    "loaded_at": .seconds,
    "is_current": .flag.described("Whether the latest load was put in force."),
    "sources": .list(
      of: .object(
        "TrustSource",
        [
          "name": .text, "outcome": .oneOf("TrustSourceOutcome", ["loaded", "kept", "failed"]),
          "anchors": .count,
          "entries_left_out": .count.described("Of a list: those that can't be used, and why."),
          "valid_until": .seconds.orNull,
          "findings": .list(
            of: .object(
              "TrustFinding",
              [
                "code": .text, "outcome": .oneOf("TrustFindingOutcome", ["failed", "warning"]),
                "clause": .text,
                "detail": .text,
              ], optional: ["detail"])),
        ])),
  ])

  private static let anchor: Schema = .object([
    "object": .constant("trust_anchor"),
    "subject": .text,
    "sha256": .sha256,
    "doc_types": .list(of: .text).orNull.described("What it may vouch for; null: any type."),
    "source": .text,
    "valid_from": .seconds,
    "kind": .oneOf("TrustAnchorKind", ["authority", "document_signer"]),
    "expires_at": .seconds,
    "listed_until": .seconds.orNull.described(
      "The end of the published list that names it, in Unix seconds; null: it is configured."),
  ])

  /// A problem of RFC 9457, with members of our own.
  private static let problem: Schema = .object(
    [
      "type": .text(like: "^urn:mdoc:problem:[a-z0-9_.]+$"),
      "title": .text,
      "status": .number(400...599),
      "detail": .text,
      "code": .reference("ProblemCode"),
      "request_id": .text.described("As in the header `Request-Id`."),
      "errors": .list(
        of: .object(
          "ProblemPointer",
          [
            "pointer": .text.described("Of the member that is wrong (RFC 6901)."),
            "detail": .text,
          ]), 1...Limits.reportedFaults),
    ], optional: ["errors"])

  private static let problemCode: Schema = .code(
    Code.allCases.filter { $0.httpStatus >= 400 }, "Why the request is refused; each reply lists its own.")
}
