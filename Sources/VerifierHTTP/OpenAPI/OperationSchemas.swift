import Primitives

/// Trust anchors, health, and the problem that every refusal is.
enum OperationSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("TrustAnchorList", anchors), .init("TrustAnchor", anchor),
    .init("Health", Part.object(["status": ["const": "ok"], "livemode": Part.flag])),
    .init(
      "Readiness",
      Part.object(["status": ["const": "ready"], "livemode": Part.flag, "trust_anchors": ["type": "integer"]])),
    .init("Problem", problem), .init("ProblemCode", problemCode),
  ]

  private static let anchors = Part.object([
    "object": ["const": "list"], "livemode": Part.flag, "trust_snapshot": Part.sha256,
    "data": Part.list(of: Part.reference("TrustAnchor")), "has_more": Part.flag,
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
    "expires_at": Part.seconds,
  ])

  /// RFC 9457, with our members.
  private static let problem: JSON = [
    "type": "object",
    "properties": [
      "type": ["type": "string", "format": "uri"],
      "title": Part.text,
      "status": ["type": "integer"],
      "detail": Part.text,
      "code": Part.reference("ProblemCode"),
      "request_id": Part.text,
      "errors": Part.list(of: Part.object(["pointer": Part.text, "detail": Part.text])),
    ],
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "additionalProperties": false,
  ]

  private static let problemCode = Part.oneOf(
    Code.allCases.filter { $0.entry.httpStatus >= 400 }.map(\.rawValue))
}
