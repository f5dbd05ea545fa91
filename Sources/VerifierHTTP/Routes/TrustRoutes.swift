import PKIX
import Primitives
import VerificationService

/// `/v1/trust_anchors`.
enum TrustRoutes {
  static let all = [list]

  private static let list = Route(
    method: .get, path: PathTemplate("/v1/trust_anchors"), name: "listTrustAnchors",
    summary: "Lists the trust anchors in force.", access: .apiKey([.trustRead]),
    success: .json(200, "TrustAnchorList")
  ) { call throws(ServiceError) in
    let trust = call.application.trust
    return Answer(
      json: [
        "object": "list", "livemode": .bool(call.application.service.isLive),
        "trust_snapshot": .string(trust.snapshot), "data": .array(trust.anchors.map(render)), "has_more": false,
      ])
  }

  private static func render(_ anchor: TrustAnchor) -> JSON {
    [
      "object": "trust_anchor",
      "subject": .string(anchor.certificate.subject.text),
      "sha256": .string(Hex.encode(anchor.certificate.sha256)),
      "doc_types": anchor.docTypes.map { .array($0.map { .string($0) }) } ?? .null,
      "source": .string(anchor.source),
      "valid_from": .integer(anchor.certificate.validity.lowerBound.secondsSince1970),
      "expires_at": .integer(anchor.certificate.validity.upperBound.secondsSince1970),
    ]
  }
}

extension DistinguishedName {
  /// The attributes that people look for, most specific first; not all of the name.
  var text: String {
    let parts = [("CN", commonName), ("O", organization), ("ST", stateOrProvince), ("C", country)]
    return parts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ", ")
  }
}
