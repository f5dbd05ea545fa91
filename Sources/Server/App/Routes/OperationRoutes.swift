import Base
import Sessions

/// Operations for operators and their machines: health, metrics, the contract itself.
enum OperationRoutes {
  static let all = [health, readiness, metrics, status, openAPI, CodePage.route]

  private static let health = Route(
    method: .get, path: PathTemplate("/healthz"), name: "getHealth", summary: "Check that the process answers",
    access: .anyone, success: .json(200, "Health"), urgency: .essential
  ) { call throws(ServiceError) in
    Answer(json: healthForm.write(call.application.service.mode))
  }

  private static let readiness = Route(
    method: .get, path: PathTemplate("/readyz"), name: "getReadiness", summary: "Check that the server takes requests",
    description: "200 if the store takes writes, a trust anchor is valid and no stop has begun.",
    access: .anyone, success: .json(200, "Readiness"),
    problems: [.apiStoreUnavailable, .trustStoreEmpty, .apiOverloaded], urgency: .essential
  ) { call throws(ServiceError) in
    let application = call.application
    guard !application.state.isStopping else { throw ServiceError(.apiOverloaded, "The server is stopping.") }
    try await application.service.checkReadiness()
    let anchors = application.trust.inForce.current.anchorsInForce(at: application.clock())
    guard anchors > 0 else { throw ServiceError(.trustStoreEmpty, "No trust anchor is valid now.") }
    return Answer(json: readinessForm.write(ReadyServer(application: application, anchors: anchors)))
  }

  private static let metrics = Route(
    method: .get, path: PathTemplate("/metrics"), name: "getMetrics", summary: "Read the metrics",
    description: "Prometheus text, for loopback peers or the scope `admin` or `server:operate`.", access: .operators,
    success: .content(MetricsText.mediaType), urgency: .essential
  ) { call throws(ServiceError) in
    // The readiness tells that the store does not answer. The other metrics are wanted most at that time.
    let heads = (try? await call.application.service.auditHeads()) ?? []
    let body = MetricsText.render(call.application, audit: heads)
    return Answer(status: 200, mediaType: MetricsText.mediaType, body: body)
  }

  private static let status = Route(
    method: .get, path: PathTemplate("/status"), name: "getStatusPage", summary: "Read the health page",
    description:
      "For loopback peers or the scope `server:operate`. With `admin` only, it shows the key's own relying party.",
    access: .operators, success: .content(StatusPage.mediaType)
  ) { call throws(ServiceError) in
    // A process of this machine sees what an operator sees.
    let only = call.caller.flatMap { $0.has(.operate) ? nil : $0.relyingParty }
    let page = StatusPage(call.application, await statusReadings(call.application, of: only), of: only)
    var answer = Answer(status: 200, mediaType: StatusPage.mediaType, body: page.body)
    answer.headers += PageRoutes.scriptFree()
    return answer
  }

  /// What the store says. The page is wanted most when it says nothing.
  private static func statusReadings(
    _ application: Application, of only: RelyingParty?
  ) async -> StatusPage.Readings {
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
    "Health", "The process answers.",
    [.always("status", { _ in "ok" }, .written(["ok"]), "`ok`.")] + mode { $0 })

  /// A server that takes requests.
  private struct ReadyServer: Sendable {
    let application: Application
    let anchors: Int

    var configuration: ServerState.Configuration { application.state.configuration }

    func certificates(_ kind: PartyCertificates.Kind) -> PartyCertificates {
      PartyCertificates(kind, of: application.service.relyingParties, at: application.clock())
    }
  }

  private static let readinessForm = Shape<ReadyServer>.open(
    "Readiness", "The server takes requests.",
    [
      .always(
        "status", { $0.configuration.isCurrent ? "ready" : "degraded" }, .written(["ready", "degraded"]),
        "`degraded` if the latest reading of the configuration was not put in force.")
    ] + mode(\.application.service.mode) + [
      .always("trust_anchors", \.anchors, .count, "Trust anchors that are valid now."),
      .always(
        "reader_certificates", { $0.certificates(.reader) }, PartyCertificates.shape,
        "The readers' certificates: an expired one signs no request."),
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
        "In staging, documents of sandboxes verify; in test, those of a mock authority."),
    ]
  }

  private static let openAPI = Route(
    method: .get, path: PathTemplate("/openapi.json"), name: "getOpenAPI", summary: "Read this document",
    description: "OpenAPI 3.1, or 3.0 for tools that need it.",
    access: .anyone,
    query: [
      .init(
        name: "version", summary: "The version of OpenAPI; 3.1 by default.",
        schema: .oneOf("OpenAPIVersion", OpenAPIVersion.allCases.map(\.rawValue)))
    ], success: .json(200, "OpenAPIDocument"), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    let asked = call.query.map { OpenAPIVersion(rawValue: $0.value) }
    guard asked.count <= 1, let version = asked.first ?? .current else {
      throw ServiceError(.apiInvalidRequest, "`version` must be `3.1` or `3.0`, once.")
    }
    return Answer(status: 200, body: call.application.additions.openAPI(version))
  }
}

/// `/v1/config`.
enum ConfigurationRoutes {
  static let all = [reload]

  private static let reload = Route(
    method: .post, path: PathTemplate("/v1/config/reload"), name: "reloadConfiguration",
    summary: "Reload the configuration",
    description: "If anything is wrong with it, the previous configuration stays in force.",
    access: .apiKey([.operate]), success: .json(200, "ConfigurationLoad"), problems: [.configurationReloadFailed]
  ) { call throws(ServiceError) in
    guard let updater = call.updater, updater.canReload else {
      throw ServiceError(.configurationReloadFailed, "Test mode has no configuration file.")
    }
    let status = await updater.reload()
    guard status.isCurrent else {
      // The reasons name files of the server, so they are only in the log.
      throw ServiceError(
        .configurationReloadFailed,
        pointers: status.problems.map { .init(pointer: $0.pointer, detail: "The server's log says what is wrong.") })
    }
    return Answer(
      json: load.write((status.loadedAt, updater.inForce.current.service.relyingParties.all.count)))
  }

  /// A reading of the configuration that was put in force, with the number of its relying parties.
  static let load = Shape<(loadedAt: Timestamp, parties: Int)>.open(
    "ConfigurationLoad", "A reading of the configuration that was put in force.",
    [
      .always("loaded_at", \.loadedAt, .seconds, "When it was read, in Unix seconds."),
      .always("relying_parties", \.parties, .count, "The number of relying parties."),
    ])

  static let state = Shape<ServerState.Configuration>.open(
    "ConfigurationState", "The configuration in force.",
    [
      .always("is_current", \.isCurrent, .flag, "Whether the latest reading of the file was put in force."),
      .always("loaded_at", \.loadedAt, .seconds, "When the configuration in force was read, in Unix seconds."),
    ])
}
