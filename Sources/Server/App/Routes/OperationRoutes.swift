import Base
import Sessions

/// Operations for operators and their machines: health, metrics, the contract itself.
enum OperationRoutes {
  static let all = [health, readiness, metrics, status, openAPI]

  private static let health = Route(
    method: .get, path: PathTemplate("/healthz"), name: "getHealth", summary: "Whether the process answers.",
    access: .anyone, success: .json(200, "Health"), urgency: .essential
  ) { call throws(ServiceError) in
    let mode = call.application.service.mode
    return Answer(json: ["status": "ok", "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue)])
  }

  private static let readiness = Route(
    method: .get, path: PathTemplate("/readyz"), name: "getReadiness",
    summary: "Whether to send requests here: the store takes writes, an anchor is in force, no stop has begun.",
    access: .anyone, success: .json(200, "Readiness"),
    problems: [.apiStoreUnavailable, .trustStoreEmpty, .apiOverloaded], urgency: .essential
  ) { call throws(ServiceError) in
    let application = call.application
    guard !application.state.isStopping else { throw ServiceError(.apiOverloaded, "The server is stopping.") }
    try await application.service.checkReadiness()
    let anchors = application.trust.inForce.current.anchorsInForce(at: application.clock())
    guard anchors > 0 else { throw ServiceError(.trustStoreEmpty, "No trust anchor is valid now.") }
    let configuration = application.state.configuration
    return Answer(
      json: [
        "status": configuration.isCurrent ? "ready" : "degraded",
        "livemode": .bool(application.service.mode.isLive), "mode": .string(application.service.mode.rawValue),
        "trust_anchors": .integer(Int64(anchors)),
        "reader_certificates": certificates(.reader, application),
        "merchant_certificates": certificates(.merchant, application),
        "registration_certificates": certificates(.registration, application),
        "configuration": [
          "is_current": .bool(configuration.isCurrent),
          "loaded_at": .integer(configuration.loadedAt.secondsSince1970),
        ],
      ])
  }

  private static func certificates(_ kind: PartyCertificates.Kind, _ application: Application) -> JSON {
    PartyCertificates(kind, of: application.service.relyingParties, at: application.clock()).json
  }

  private static let metrics = Route(
    method: .get, path: PathTemplate("/metrics"), name: "getMetrics",
    summary: "Prometheus text, for loopback peers or the scope `admin` or `server:operate`.", access: .operators,
    success: .content(MetricsText.mediaType), urgency: .essential
  ) { call throws(ServiceError) in
    // The readiness tells that the store does not answer. The other metrics are wanted most at that time.
    let heads = (try? await call.application.service.auditHeads()) ?? []
    let body = MetricsText.render(call.application, audit: heads)
    return Answer(status: 200, mediaType: MetricsText.mediaType, body: body)
  }

  private static let status = Route(
    method: .get, path: PathTemplate("/status"), name: "getStatusPage",
    summary: "The health page for operators, for loopback peers or the scope `server:operate`. "
      + "With `admin` alone it shows the key's own relying party.",
    access: .operators, success: .content(StatusPage.mediaType)
  ) { call throws(ServiceError) in
    // A process of this machine sees what an operator sees.
    let only = call.caller.flatMap { $0.has(.operate) ? nil : $0.relyingParty }
    let page = StatusPage(call.application, await statusReadings(call.application, of: only), of: only)
    var answer = Answer(status: 200, mediaType: StatusPage.mediaType, body: page.body)
    answer.headers += [
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ), ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
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

  private static let openAPI = Route(
    method: .get, path: PathTemplate("/openapi.json"), name: "getOpenAPI", summary: "This document.",
    access: .anyone, success: .json(200, "OpenAPIDocument")
  ) { call throws(ServiceError) in
    Answer(status: 200, body: call.application.additions.openAPI)
  }
}

/// `/v1/config`.
enum ConfigurationRoutes {
  static let all = [reload]

  private static let reload = Route(
    method: .post, path: PathTemplate("/v1/config/reload"), name: "reloadConfiguration",
    summary: "Reads the configuration again. If anything is wrong with it, the previous one stays in force.",
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
      json: [
        "loaded_at": .integer(status.loadedAt.secondsSince1970),
        "relying_parties": .integer(Int64(updater.inForce.current.service.relyingParties.all.count)),
      ])
  }
}
