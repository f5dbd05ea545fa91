import Base
import PKIX
import Sessions
import Trust

/// Operations for operators and their tools: health, metrics, the API's contract.
enum OperationRoutes {
  static let all: [Route] = [
    Route(
      .get, "/healthz", "getHealth", "Check that the process responds", access: .anyone, success: .json("Health"),
      urgency: .essential
    ) { call throws(ServiceError) in
      Reply(json: healthForm.write(call.service.mode))
    },
    Route(
      .get, "/readyz", "getReadiness", "Check that the server accepts requests",
      "200 if the store accepts writes, tokens respond, a trust anchor is valid and no stop has begun.",
      access: .anyone,
      success: .json("Readiness"),
      problems: [.apiStoreUnavailable, .apiKeyUnavailable, .trustStoreEmpty, .apiOverloaded],
      urgency: .essential
    ) { call throws(ServiceError) in
      let application = call.application
      guard !application.state.isStopping else { throw ServiceError(.apiOverloaded, "The server is stopping.") }
      try await application.service.checkReadiness()
      let anchors = application.trust.inForce.current.anchorsInForce(at: application.clock())
      guard anchors > 0 else { throw ServiceError(.trustStoreEmpty, "No trust anchor is valid now.") }
      return Reply(json: readinessForm.write(ReadyServer(application: application, anchors: anchors)))
    },
    Route(
      .get, "/metrics", "getMetrics", "Read the metrics",
      "Prometheus text, for loopback peers or the scope `admin` or `server:operate`.", access: .operators,
      success: .content(MetricsText.mediaType), urgency: .essential
    ) { call throws(ServiceError) in
      // Reply even if the store fails. Operators need the other metrics most at that time, and `/readyz` reports the
      // store.
      let heads = (try? await call.service.auditHeads()) ?? []
      let tokens = await call.service.heldKeys()
      return Reply(MetricsText.mediaType, MetricsText.render(call.application, audit: heads, tokens: tokens))
    },
    Route(
      .get, "/status", "getStatusPage", "Read the health page",
      "For loopback peers or the scope `server:operate`. With `admin` only, it shows the key's own relying party.",
      access: .operators, success: .content(StatusPage.mediaType)
    ) { call throws(ServiceError) in
      // A process on this machine sees the page for the whole server.
      let only = call.caller.flatMap { $0.has(.operate) ? nil : $0.relyingParty }
      let page = StatusPage(call.application, await statusReadings(call.application, of: only), of: only)
      var reply = Reply(StatusPage.mediaType, page.body)
      reply.headers += PageRoutes.scriptFree()
      return reply
    },
    Route(
      .get, "/openapi.json", "getOpenAPI", "Read this document", "OpenAPI 3.1, or 3.0 for tools that need it.",
      access: .anyone, query: version.parameters, success: .json("OpenAPIDocument"), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      Reply("application/json", call.application.additions.openAPI(try version.read(call.query)))
    },
    CodePage.route,
  ]

  private static let version = Query(
    OpenAPIVersion.current,
    .choice(OpenAPIVersion.self, "version", "OpenAPIVersion", "The version of OpenAPI; 3.1 by default.") { $0 = $1 })

  private static func statusReadings(_ application: Application, of only: RelyingParty?) async -> StatusPage.Readings {
    let service = application.service
    var readings = StatusPage.Readings()
    readings.isReady = (try? await service.checkReadiness()) != nil
    readings.heads = try? await service.auditHeads(of: only)
    readings.outbox = application.webhooks.snapshot.outbox
    if let only { readings.usage = try? await service.usage(of: only) }
    let parties = (only.map { [$0] } ?? service.relyingParties.all).filter { !$0.webhooks.isEmpty }
    guard readings.outbox?.dead ?? 0 > 0 else { return readings }
    for party in parties.prefix(Limits.statusParties) {
      let letters = try? await service.deadLetters(of: party.id, limit: Limits.statusLetters)
      if let letters, !letters.isEmpty { readings.deadLetters.append((party.id, letters)) }
    }
    return readings
  }

  // MARK: The forms

  static let schemas = [
    healthForm.schema, readinessForm.schema,
    Schema.anyObject.titled("OpenAPIDocument").described("This document, in OpenAPI 3.1 or 3.0."),
  ]

  private static let healthForm = Shape<ServerMode>.open(
    "Health", "The process responds.",
    [.always("status", { _ in "ok" }, .written(["ok"]), "`ok`.")] + mode { $0 })

  private struct ReadyServer: Sendable {
    let application: Application
    let anchors: Int

    var configuration: ServerState.Configuration { application.state.configuration }

    func certificates(_ kind: PartyCertificates.Kind) -> PartyCertificates {
      PartyCertificates(kind, of: application.service.relyingParties, at: application.clock())
    }
  }

  private static let readinessForm = Shape<ReadyServer>.open(
    "Readiness", "The server accepts requests.",
    [
      .always(
        "status", { $0.configuration.isCurrent ? "ready" : "degraded" }, .written(["ready", "degraded"]),
        "`degraded` if the latest reload of the configuration failed.")
    ] + mode(\.application.service.mode) + [
      .always("trust_anchors", \.anchors, .count, "Trust anchors that are valid now."),
      .always(
        "reader_certificates", { $0.certificates(.reader) }, PartyCertificates.shape,
        "The readers' certificates: no request is signed with an expired one."),
      .always(
        "merchant_certificates", { $0.certificates(.merchant) }, PartyCertificates.shape,
        "Apple's merchant certificates."),
      .always(
        "registration_certificates", { $0.certificates(.registration) }, PartyCertificates.shape,
        "The relying parties' registration certificates."),
      .always("configuration", \.configuration, ConfigurationRoutes.state, "The configuration in force."),
    ])

  private static func mode<Root>(_ mode: @escaping @Sendable (Root) -> ServerMode) -> [WrittenMember<Root>] {
    [
      .always("livemode", { mode($0).isLive }, .flag, "Whether the server runs in live mode."),
      .always(
        "mode", { mode($0).rawValue }, .written(ServerMode.allCases.map(\.rawValue)),
        "Staging accepts documents of sandboxes; test mode accepts documents of a mock authority."),
    ]
  }

}

/// `/v1/config`.
enum ConfigurationRoutes {
  static let all = [
    Route(
      .post, "/v1/config/reload", "reloadConfiguration", "Reload the configuration",
      "If the file has an error, the previous configuration stays in force.", access: .apiKey([.operate]),
      success: .json("ConfigurationLoad"), problems: [.configurationReloadFailed]
    ) { call throws(ServiceError) in
      guard let updater = call.updater, updater.canReload else {
        throw ServiceError(.configurationReloadFailed, "Test mode has no configuration file.")
      }
      let status = await updater.reload()
      guard status.isCurrent else {
        // The reasons contain paths on the server, so only the log shows them.
        throw ServiceError(
          .configurationReloadFailed,
          pointers: status.problems.map { .init(pointer: $0.pointer, detail: "The server's log has the reason.") })
      }
      return Reply(json: load.write((status.loadedAt, updater.inForce.current.service.relyingParties.all.count)))
    }
  ]

  static let load = Shape<(loadedAt: Timestamp, parties: Int)>.open(
    "ConfigurationLoad", "A successful reload of the configuration.",
    [
      .always("loaded_at", \.loadedAt, .seconds, "The time at which it was read, in Unix seconds."),
      .always("relying_parties", \.parties, .count, "The number of relying parties."),
    ])

  static let state = Shape<ServerState.Configuration>.open(
    "ConfigurationState", "The configuration in force.",
    [
      .always("is_current", \.isCurrent, .flag, "Whether the latest reading of the file is in force."),
      .always(
        "loaded_at", \.loadedAt, .seconds, "The time at which the configuration in force was read, in Unix seconds."),
    ])
}

/// `/v1/trust_anchors`.
enum TrustRoutes {
  static let all: [Route] = [
    Route(
      .get, "/v1/trust_anchors", "listTrustAnchors", "List the trust anchors",
      "The anchors in force, and how they were loaded.", access: .apiKey([.trustRead]),
      success: .json("TrustAnchorList")
    ) { call throws(ServiceError) in
      Reply(json: anchors.write(call.application))
    },
    Route(
      .post, "/v1/trust/reload", "reloadTrust", "Reload the trust anchors",
      "If that fails, the previous anchors stay in force.", access: .apiKey([.operate]), success: .json("TrustLoad"),
      problems: [.trustReloadFailed]
    ) { call throws(ServiceError) in
      let updater = call.application.trust
      guard updater.canReload else {
        throw ServiceError(.trustReloadFailed, "Test mode's anchors are made at the start and cannot be reloaded.")
      }
      let status = await updater.reload()
      // The reason contains paths on the server, so only the log shows it.
      if status.problem != nil { throw ServiceError(.trustReloadFailed) }
      return Reply(json: load.write(status))
    },
  ]

  // MARK: The forms

  static let schemas = [anchors.schema, load.schema]

  private static let anchors = Shape<Application>.open(
    "TrustAnchorList", "The trust anchors in force, and how they were loaded.",
    [
      .always("object", { _ in "list" }, .kind, "`list`."),
      .always("livemode", \.service.mode.isLive, .flag, "Whether the server runs in live mode."),
      .always("trust_snapshot", \.trust.inForce.current.snapshot, .sha256, "SHA-256 of all anchors, as in reports."),
      .always("data", \.trust.inForce.current.anchors, anchor.list, "The anchors."),
      .always("has_more", { _ in false }, .flag, "Always false: the list is complete."),
      .always("loaded", \.trust.status, load, "The latest load."),
    ])

  private static let load = Shape<TrustUpdater.Status>.open(
    "TrustLoad", "A load of the trust anchors.",
    [
      .always(
        "loaded_at", \.loadedAt, .seconds, "The time at which the anchors in force were loaded, in Unix seconds."),
      .always("is_current", { $0.problem == nil }, .flag, "Whether the latest load is in force."),
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
      .always(
        "entries_left_out", \.leftOut, .count, "The number of unusable entries of the list; `findings` has the reasons."
      ),
      .orNull("valid_until", \.validUntil, .seconds, "The list's expiry, in Unix seconds; null if it has none."),
      .always(
        "findings",
        { $0.checks.filter { $0.outcome != .passed && $0.outcome != .notRun }.map(ReportRecord.CheckRecord.known) },
        ReportRendering.check.list, "The failed checks and warnings of the source."),
    ])

  private static let anchor = Shape<TrustAnchor>.open(
    "TrustAnchor", "A certificate that the server trusts to issue documents or document signers.",
    [
      .always("object", { _ in "trust_anchor" }, .kind, "`trust_anchor`."),
      .always("subject", \.certificate.subject.text, .written(), "The certificate's subject."),
      .always("sha256", { Hex.encode($0.certificate.sha256) }, .sha256, "SHA-256 of the certificate."),
      .orNull("doc_types", \.docTypes, Shape<String>.written().list, "Its document types; null means any type."),
      .always("source", \.source, .written(), "The name of its source."),
    ] + period)

  private static let period: [WrittenMember<TrustAnchor>] = [
    .always(
      "kind", \.kind.rawValue, .written(["authority", "document_signer"]),
      "`authority` if it issues document signers, `document_signer` if it is one."),
    .always("valid_from", \.certificate.validity.lowerBound, .seconds, "Start of validity, in Unix seconds."),
    .always("expires_at", \.certificate.validity.upperBound, .seconds, "End of validity, in Unix seconds."),
    .orNull(
      "listed_until", \.trustedUntil, .seconds,
      "The expiry of the published list that contains it, in Unix seconds; null if it is configured."),
  ]
}

extension DistinguishedName {
  /// The human-readable attributes of the name, most specific first. Other attributes are left out.
  var text: String {
    let parts = [("CN", commonName), ("O", organization), ("ST", stateOrProvince), ("C", country)]
    return parts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ", ")
  }
}
