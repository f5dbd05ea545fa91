import Base
import PKIX
import Sessions
import Trust

/// `/v1/trust_anchors`.
enum TrustRoutes {
  static let all = [list, reload]

  private static let list = Route(
    method: .get, path: PathTemplate("/v1/trust_anchors"), name: "listTrustAnchors",
    summary: "Lists the trust anchors in force.", access: .apiKey([.trustRead]),
    success: .json(200, "TrustAnchorList")
  ) { call throws(ServiceError) in
    let trust = call.application.trust.inForce.current
    return Answer(
      json: [
        "object": "list", "livemode": .bool(call.application.service.mode.isLive),
        "trust_snapshot": .string(trust.snapshot), "data": .array(trust.anchors.map(render)), "has_more": false,
        "loaded": render(call.application.trust.status),
      ])
  }

  private static let reload = Route(
    method: .post, path: PathTemplate("/v1/trust/reload"), name: "reloadTrust",
    summary: "Loads the trust anchors again. If that fails, the previous ones stay in force.",
    access: .apiKey([.operate]),
    success: .json(200, "TrustLoad"), problems: [.trustReloadFailed]
  ) { call throws(ServiceError) in
    let updater = call.application.trust
    guard updater.canReload else {
      throw ServiceError(.trustReloadFailed, "Test mode's anchors are made at the start and stay.")
    }
    let status = await updater.reload()
    // The reason names files of the server, so it is only in the log.
    if status.problem != nil { throw ServiceError(.trustReloadFailed) }
    return Answer(json: render(status))
  }

  private static func render(_ status: TrustUpdater.Status) -> JSON {
    [
      "loaded_at": .integer(status.loadedAt.secondsSince1970), "is_current": .bool(status.problem == nil),
      "sources": .array(
        status.sources.map { source in
          [
            "name": .string(source.name), "outcome": .string(source.outcome.rawValue),
            "anchors": .integer(Int64(source.anchorCount)), "entries_left_out": .integer(Int64(source.leftOut)),
            "valid_until": source.validUntil.map { .integer($0.secondsSince1970) } ?? .null,
            "findings": .array(source.checks.filter { $0.outcome != .passed && $0.outcome != .notRun }.map(finding)),
          ]
        }),
    ]
  }

  private static func finding(_ check: Check) -> JSON {
    .members([
      "code": .string(check.code.rawValue), "outcome": .string(check.outcome.rawValue),
      "clause": .string(check.clause), "detail": check.detail.map { .string($0) },
    ])
  }

  private static func render(_ anchor: TrustAnchor) -> JSON {
    [
      "object": "trust_anchor",
      "subject": .string(anchor.certificate.subject.text),
      "sha256": .string(Hex.encode(anchor.certificate.sha256)),
      "doc_types": anchor.docTypes.map { .array($0.map { .string($0) }) } ?? .null,
      "source": .string(anchor.source),
      "kind": .string(anchor.kind.rawValue),
      "valid_from": .integer(anchor.certificate.validity.lowerBound.secondsSince1970),
      "expires_at": .integer(anchor.certificate.validity.upperBound.secondsSince1970),
      "listed_until": anchor.trustedUntil.map { .integer($0.secondsSince1970) } ?? .null,
    ]
  }
}

extension DistinguishedName {
  /// The attributes that people look for, most specific first. Other attributes of the name are left out.
  var text: String {
    let parts = [("CN", commonName), ("O", organization), ("ST", stateOrProvince), ("C", country)]
    return parts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ", ")
  }
}
