import Base
import Glibc
import HTTP
import Mdoc
import Network
import Sessions
import Trust

/// A whole server: trust, store, service, HTTP and the sweeper.
package final class VerifierServer: Sendable {
  package let listen: ListenAddress
  package let mode: ServerMode

  private let http: HTTPServer
  private let store: any SessionStore
  let edge: Edge
  private let sweeper: Task<Void, Never>
  private let registrationWatch: Task<Void, Never>
  let updater: ConfigurationUpdater
  private let dispatcher: WebhookDispatcher
  private let updates: Task<Void, Never>?
  let stopTimes: StopTimes
  private let additions: ServerAdditions
  private let log: Log
  private let clock: @Sendable () -> Timestamp

  /// The server's own address, such as `http://127.0.0.1:8080`.
  package var baseURL: String { "\(edge.tls == nil ? "http" : "https")://\(listen)" }

  /// Opens all parts or none. If a part fails to open, the parts opened so far close as they go out of scope.
  package init(
    _ configuration: ServerConfiguration, log: Log, clock: @escaping @Sendable () -> Timestamp
  ) throws(StartError) {
    mode = configuration.mode
    // Only test mode has a mock wallet, regardless of the configuration.
    additions = mode == .test ? configuration.additions : .none
    let trust: TrustStore
    do throws(TrustStoreError) {
      trust = try TrustStore(
        anchors: configuration.anchors, allowsTestCertificates: mode == .test, allowsTestTier: mode != .live)
    } catch {
      throw .configuration("no trust anchor is configured")
    }
    edge = try Edge(configuration.edge)
    let metrics = Metrics()
    let store = try configuration.store.open(mode: mode, node: configuration.node)
    self.store = store
    let inForce = CurrentTrust(trust)
    trust.prepareForService()
    let trustUpdater = TrustUpdater(
      inForce, plan: configuration.trust, sources: configuration.sources, log: log, clock: clock)
    let state = ServerState(loadedAt: clock(), connections: configuration.edge.connections)
    let service = try StartError.checking { () throws(ConfigurationError) -> VerificationService in
      try VerificationService(
        configuration.service(inForce, metrics: metrics),
        store: store.observed(by: StoreWatch(metrics: metrics, waits: state.waits)), clock: clock)
    }
    let poster = try StartError.attempt { () throws(WebListFetcher.StartError) in try WebPoster() }
    let application = Application(
      service: service, trust: trustUpdater, metrics: metrics, fetches: configuration.fetches, additions: additions,
      isBehindProxy: configuration.isBehindProxy, edge: edge, readerCRL: configuration.readerCRL,
      documentation: configuration.documentation, hasConsole: configuration.hasConsole, clock: clock, state: state)
    let applications = CurrentApplication(application)
    updater = ConfigurationUpdater(applications, started: configuration, log: log)
    http = try Self.listen(configuration, edge, APIHandler(applications, updater: updater, log: log))
    listen = ListenAddress(address: configuration.listen.address, port: http.port)
    stopTimes = configuration.stop
    self.log = log
    self.clock = clock
    let upkeep = Upkeep(service: { applications.current.service }, log: log, clock: clock)
    sweeper = repeating(every: .seconds(5), upkeep.sweep)
    registrationWatch = repeating(every: .seconds(3_600), upkeep.checkRegistrations)
    dispatcher = WebhookDispatcher(
      .init(
        store: store, relyingParties: { applications.current.service.relyingParties }, mode: mode, poster: poster,
        log: log, clock: clock, metrics: application.webhooks))
    updates = updater.canReload ? updater.start() : nil
    // Other threads run from now on, and may read the environment.
    configuration.source?.environment.close()
    // Some of test mode's mock anchors are outdated on purpose.
    let outdated = mode != .test ? trust.anchors.count - trust.anchorsInForce(at: clock()) : 0
    log.warn(
      "configuration.warning", at: clock(),
      configuration.warnings + (mode != .test ? AnchorCertificates.loadWarnings(of: trust.anchors) : [])
        + AnchorCertificates.unknownIssuers(of: configuration.relyingParties, among: trust.anchors)
        + configuration.sources.compactMap(\.omission)
        + PartyCertificates.warnings(of: configuration.relyingParties, at: clock())
        + (outdated > 0 ? ["\(outdated) of \(trust.anchors.count) trust anchors are expired or not yet valid"] : []))
    log.write(
      .info, "server.started", at: clock(),
      [
        "listen": .string(listen.description), "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue),
        "trust_anchors": .integer(Int64(trust.anchors.count)), "trust_snapshot": .string(trust.snapshot),
      ])
  }

  /// Loads the published lists, then opens everything.
  static func start(
    _ configuration: ServerConfiguration, log: Log, clock: @escaping @Sendable () -> Timestamp
  ) async throws(StartError) -> VerifierServer {
    guard let plan = configuration.trust, plan.hasLists else {
      return try VerifierServer(configuration, log: log, clock: clock)
    }
    let load: TrustLoad
    do throws(TrustLoadError) {
      load = try await plan.loader.load(at: clock())
    } catch {
      throw .configuration(error.description)
    }
    let problems = load.sources.filter { $0.outcome != .loaded }.map(\.problem)
    guard load.anchors.contains(where: plan.mayTrust) else {
      throw .configuration("\(plan.noAnchor): \(problems.joined(separator: "; "))")
    }
    var configuration = configuration
    configuration.anchors = load.anchors
    configuration.sources = load.sources
    configuration.warnings += problems
    return try VerifierServer(configuration, log: log, clock: clock)
  }

  /// Refuses new requests, lets requests in progress finish within `drainSeconds`, and then closes the store.
  package func stop(drainSeconds: Int = 20) async {
    updater.inForce.current.state.stop()
    log.write(.info, "server.stopping", at: clock())
    await http.stop(drainSeconds: drainSeconds)
    updates?.cancel()
    sweeper.cancel()
    registrationWatch.cancel()
    await sweeper.value
    await dispatcher.stop()
    await updates?.value
    await store.close()
    await additions.end()
    log.write(.info, "server.stopped", at: clock())
  }

  /// Announces the stop on `/readyz` for the configured time, then stops as `stop` does.
  package func stopWithNotice() async {
    updater.inForce.current.state.stop()
    log.write(.info, "server.stop_announced", at: clock(), ["seconds": .integer(stopTimes.notice)])
    // If the task is cancelled, the wait ends early.
    try? await Task.sleep(for: .seconds(stopTimes.notice))
    await stop(drainSeconds: Int(stopTimes.drain))
  }

  private static func listen(
    _ configuration: ServerConfiguration, _ edge: Edge, _ handler: APIHandler
  ) throws(StartError) -> HTTPServer {
    var options = HTTPServerConfiguration()
    options.maxBodyBytes = Limits.requestBodyBytes
    options.maxHeaderBytes = Limits.requestHeaderBytes
    options.maxBufferedBodyBytes = Limits.bufferedBodyBytes
    options.gauges = edge.gauges
    options.tls = edge.tls
    configuration.edge.apply(to: &options)
    let listen = configuration.listen
    return try StartError.attempt { [options] () throws(HTTPServerError) in
      let bound = configuration.socket
      let socket = if let bound { bound } else { try BoundSocket(address: listen.address, port: listen.port) }
      return try HTTPServer(on: socket, configuration: options, handler: handler)
    }
  }
}

private struct Upkeep: Sendable {
  /// The service in force. Read it at each use, so that a replaced service and its keys are released.
  let service: @Sendable () -> VerificationService
  let log: Log
  let clock: @Sendable () -> Timestamp

  /// Expires sessions, erases results past their retention, deletes old rows, and measures the store's usage.
  func sweep() async {
    do throws(ServiceError) {
      while !Task.isCancelled, try await service().sweep().total > 0 {}
    } catch {
      // No reply depends on the sweep: readers check the time themselves.
      log.write(.warning, "sweep.failed", at: clock(), ["code": .string(error.code.rawValue)])
    }
    await service().measureUsage()
  }

  /// Checks the status of the relying parties' registration certificates, and logs warnings.
  func checkRegistrations() async {
    let (now, service) = (clock(), service())
    let warnings = await PartyCertificates.statusWarnings(
      of: service.relyingParties, asking: service.revocation, at: now)
    // A stopping server does not wait for a status list, so a cancelled check logs nothing.
    if !Task.isCancelled { log.warn("registration.status", at: now, warnings) }
  }
}

private func repeating(
  every interval: Duration, _ work: @escaping @Sendable () async -> Void
) -> Task<Void, Never> {
  Task {
    while !Task.isCancelled {
      await work()
      try? await Task.sleep(for: interval)
    }
  }
}

/// The functions that `mdoc serve` calls, from the command line to the exit code.
extension VerifierServer {
  /// Serves in live mode or staging until SIGTERM or SIGINT. Returns the exit code: 0 after a graceful stop, 78 for an
  /// error in the configuration, 75 if a port or the store is not available. The process ends with 70 if a stop takes
  /// too long.
  package static func run(configurationFile: String) async -> Int32 {
    await run(stoppedBy: { await $0.stopWithNotice() }) { log async throws(StartError) in
      // On SIGHUP a live server reloads, so the signal must not end the process. A server in test mode ends with its
      // terminal.
      ReloadSignal.install()
      let configuration = try ConfigurationLoader(path: configurationFile).load()
      return try await VerifierServer.start(configuration, log: log, clock: Timestamp.systemNow)
    }
  }

  /// Upgrades the store to this version's schema and returns: `mdoc serve --migrate`.
  package static func migrate(configurationFile: String) async -> Int32 {
    await migrate { () throws(StartError) in
      let configuration = try ConfigurationLoader(path: configurationFile).load()
      return (configuration.store, configuration.mode)
    }
  }

  package static func migrateTestMode(_ store: StoreLocation) async -> Int32 { await migrate { (store, .test) } }

  private static func migrate(_ find: () throws(StartError) -> (StoreLocation, ServerMode)) async -> Int32 {
    await logging(failuresAs: "store.not_migrated") { log async throws(StartError) in
      let (store, mode) = try find()
      try await store.migrate(mode: mode)
      log.write(
        .info, "store.migrated", at: .systemNow(),
        ["store": .string("\(store)"), "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue)])
    }
  }

  /// Starts a server, with a log on standard error, waits for SIGTERM or SIGINT, and stops it.
  package static func run(
    stoppedBy stop: (VerifierServer) async -> Void, _ start: (Log) async throws(StartError) -> VerifierServer
  ) async -> Int32 {
    await logging(failuresAs: "server.not_started") { log async throws(StartError) in
      StopSignal.install()
      let server = try await start(log)
      let time = server.stopTimes.total
      await StopSignal.wait { StopWatchdog.start(after: time, log: log) }
      await stop(server)
    }
  }

  /// Runs the work with a log on standard error. Returns the exit code.
  private static func logging(
    failuresAs event: String, _ work: (Log) async throws(StartError) -> Void
  ) async -> Int32 {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    let log = Log(sink: writer.write)
    var code: Int32 = 0
    do throws(StartError) { try await work(log) } catch {
      log.write(.error, event, at: .systemNow(), ["message": .string(error.message)])
      code = error.exitCode
    }
    await writer.close()
    return code
  }
}
