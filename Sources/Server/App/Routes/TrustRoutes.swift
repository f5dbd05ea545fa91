import Base
import PKIX
import Sessions
import Trust

/// `/v1/trust_anchors`.
enum TrustRoutes {
  static let all = [list, reload]

  private static let list = Route(
    method: .get, path: PathTemplate("/v1/trust_anchors"), name: "listTrustAnchors", summary: "List the trust anchors",
    description: "The anchors in force, and how they were loaded.", access: .apiKey([.trustRead]),
    success: .json(200, "TrustAnchorList")
  ) { call throws(ServiceError) in
    Answer(json: anchors.write(call.application))
  }

  private static let reload = Route(
    method: .post, path: PathTemplate("/v1/trust/reload"), name: "reloadTrust", summary: "Reload the trust anchors",
    description: "If that fails, the previous anchors stay in force.",
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
    return Answer(json: load.write(status))
  }

  // MARK: The forms

  static let schemas = [anchors.schema, load.schema]

  private static let anchors = Shape<Application>.open(
    "TrustAnchorList", "The trust anchors in force, and how they were loaded.",
    [
      .always("object", { _ in "list" }, .kind, "`list`."),
      .always("livemode", \.service.mode.isLive, .flag, "Whether the server runs in live mode."),
      .always("trust_snapshot", \.trust.inForce.current.snapshot, .sha256, "SHA-256 of all anchors, as in reports."),
      .always("data", \.trust.inForce.current.anchors, anchor.list, "The anchors."),
      .always("has_more", { _ in false }, .flag, "Always false: the list is whole."),
      .always("loaded", \.trust.status, load, "The latest load."),
    ])

  private static let load = Shape<TrustUpdater.Status>.open(
    "TrustLoad", "A load of the trust anchors.",
    [
      .always("loaded_at", \.loadedAt, .seconds, "When the anchors in force were loaded, in Unix seconds."),
      .always("is_current", { $0.problem == nil }, .flag, "Whether the latest load was put in force."),
      .always("sources", \.sources, source.list, "The sources, in the configuration's order."),
    ])

  private static let source = Shape<SourceReport>.open(
    "TrustSource", "A source of trust anchors: a file or a published list.",
    [
      .always("name", \.name, .written(), "The source's name in the configuration."),
      .always(
        "outcome", \.outcome.rawValue, .written(["loaded", "kept", "failed"]),
        "`kept` if its last good load stays in force."),
      .always("anchors", \.anchorCount, .count, "Anchors from this source."),
      .always("entries_left_out", \.leftOut, .count, "Entries of the list that cannot be used; `findings` says why."),
      .orNull("valid_until", \.validUntil, .seconds, "When the list ends, in Unix seconds; null if it does not."),
      .always(
        "findings",
        { $0.checks.filter { $0.outcome != .passed && $0.outcome != .notRun }.map(ReportRecord.CheckRecord.known) },
        ReportRendering.check.list, "The checks of the source that failed or warn."),
    ])

  private static let anchor = Shape<TrustAnchor>.open(
    "TrustAnchor", "A certificate that documents are trusted by.",
    [
      .always("object", { _ in "trust_anchor" }, .kind, "`trust_anchor`."),
      .always("subject", \.certificate.subject.text, .written(), "The certificate's subject."),
      .always("sha256", { Hex.encode($0.certificate.sha256) }, .sha256, "SHA-256 of the certificate."),
      .orNull("doc_types", \.docTypes, Shape<String>.written().list, "What it may vouch for; null: any type."),
      .always("source", \.source, .written(), "The source that it comes from."),
    ] + period)

  private static let period: [WrittenMember<TrustAnchor>] = [
    .always(
      "kind", \.kind.rawValue, .written(["authority", "document_signer"]),
      "Whether it issues document signers or is one itself."),
    .always("valid_from", \.certificate.validity.lowerBound, .seconds, "From when it is valid, in Unix seconds."),
    .always("expires_at", \.certificate.validity.upperBound, .seconds, "Until when it is valid, in Unix seconds."),
    .orNull(
      "listed_until", \.trustedUntil, .seconds,
      "The end of the published list that names it, in Unix seconds; null: it is configured."),
  ]
}

extension DistinguishedName {
  /// The attributes that people look for, most specific first. Other attributes of the name are left out.
  var text: String {
    let parts = [("CN", commonName), ("O", organization), ("ST", stateOrProvince), ("C", country)]
    return parts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ", ")
  }
}
