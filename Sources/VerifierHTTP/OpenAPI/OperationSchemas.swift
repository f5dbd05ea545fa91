import Primitives

/// Trust anchors, health, and the problem that every refusal is.
enum OperationSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("ConfigurationLoad", Part.object(["loaded_at": Part.seconds, "relying_parties": ["type": "integer"]])),
    .init("TrustAnchorList", anchors), .init("TrustLoad", load), .init("TrustAnchor", anchor),
    .init("Health", Part.object(["status": ["const": "ok"], "livemode": Part.flag])),
    .init(
      "Readiness",
      Part.object([
        "status": Part.oneOf(["ready", "degraded"]), "livemode": Part.flag, "trust_anchors": ["type": "integer"],
        "reader_certificates": Part.reference("ReaderCertificates"),
        "configuration": Part.object([
          "is_current": [
            "type": "boolean",
            "description": "Whether the latest reading of the file was put in force; if not, the status is degraded.",
          ],
          "loaded_at": Part.seconds,
        ]),
      ])),
    .init("ReaderCertificates", readerCertificates),
    .init("Problem", problem), .init("ProblemCode", problemCode),
  ]

  private static let readerCertificates = Part.object([
    "count": ["type": "integer"],
    "expired": ["type": "integer", "description": "Those not valid now: no signed request is made with them."],
    "expiring": ["type": "integer", "description": "Those whose chain ends within 30 days."],
  ])

  private static let anchors = Part.object([
    "object": ["const": "list"], "livemode": Part.flag, "trust_snapshot": Part.sha256,
    "data": Part.list(of: Part.reference("TrustAnchor")), "has_more": Part.flag,
    "loaded": Part.reference("TrustLoad"),
  ])

  private static let load = Part.object([
    "loaded_at": Part.seconds,
    "is_current": ["type": "boolean", "description": "Whether the latest load was put in force."],
    "sources": Part.list(
      of: Part.object([
        "name": Part.text, "outcome": Part.oneOf(["loaded", "kept", "failed"]), "anchors": ["type": "integer"],
        "valid_until": ["type": ["integer", "null"]],
        "findings": Part.list(
          of: Part.object(
            [
              "code": Part.text, "outcome": Part.oneOf(["failed", "warning"]), "clause": Part.text,
              "detail": Part.text,
            ], optional: ["detail"])),
      ])),
  ])

  private static let anchor = Part.object([
    "object": ["const": "trust_anchor"],
    "subject": Part.text,
    "sha256": Part.sha256,
    "doc_types": [
      "type": ["array", "null"], "items": Part.text, "description": "What it may vouch for; null: any type.",
    ],
    "source": Part.text,
    "valid_from": Part.seconds,
    "kind": Part.oneOf(["authority", "document_signer"]),
    "expires_at": Part.seconds,
    "listed_until": [
      "type": ["integer", "null"],
      "description": "The end of the published list that names it; null: it is configured.",
    ],
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
        of: Part.object([
          "pointer": ["type": "string", "description": "Of the member that is wrong (RFC 6901)."], "detail": Part.text,
        ]), 1...Limits.reportedFaults),
    ], optional: ["errors"])

  private static let problemCode = Part.oneOf(
    Code.allCases.filter { $0.entry.httpStatus >= 400 }.map(\.rawValue))
}
