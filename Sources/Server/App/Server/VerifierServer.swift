import Base
import Glibc
import HTTP
import Mdoc
import Network
import Sessions
import Trust

/// A whole server: trust, store, service, HTTP and the sweeper, from the start to the last commit.
package final class VerifierServer: Sendable {
  /// Where it listens, with the port that it got.
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

  /// Its own address, such as `http://127.0.0.1:8080`.
  package var baseURL: String { "\(edge.tls == nil ? "http" : "https")://\(listen)" }

  /// Opens everything or nothing: if one part fails, those opened before are closed as they go out of scope.
  package init(
    _ configuration: ServerConfiguration, log: Log, clock: @escaping @Sendable () -> Timestamp
  ) throws(StartError) {
    mode = configuration.mode
    // Even if the configuration asks for them: there is no mock but in test mode.
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
    store = try configuration.store.open(mode: mode, node: configuration.node)
    let inForce = CurrentTrust(trust)
    let trustUpdater = TrustUpdater(
      inForce, plan: configuration.trust, sources: configuration.sources, log: log, clock: clock)
    let state = ServerState(loadedAt: clock(), connections: configuration.edge.connections)
    let service: VerificationService
    do throws(ConfigurationError) {
      service = try VerificationService(
        configuration.service(inForce, metrics: metrics),
        store: MeasuredStore(store, metrics: metrics, waits: state.waits), clock: clock)
    } catch {
      throw .configuration(error.message)
    }
    let webhooks = WebhookMetrics()
    let poster = try Self.poster()
    let application = Application(
      service: service, trust: trustUpdater, metrics: metrics, fetches: configuration.fetches, webhooks: webhooks,
      additions: additions, isBehindProxy: configuration.isBehindProxy, edge: edge,
      readerCRL: configuration.readerCRL, clock: clock, state: state)
    let applications = CurrentApplication(application)
    updater = ConfigurationUpdater(applications, started: configuration, log: log)
    http = try Self.listen(configuration, edge, APIHandler(applications, updater: updater, log: log))
    listen = ListenAddress(address: configuration.listen.address, port: http.port)
    stopTimes = configuration.stop
    self.log = log
    self.clock = clock
    sweeper = Sweeper(service: { applications.current.service }, log: log, clock: clock).start()
    registrationWatch = RegistrationWatch(
      service: { applications.current.service }, log: log, clock: clock
    ).start()
    dispatcher = WebhookDispatcher(
      .init(
        store: store, relyingParties: { applications.current.service.relyingParties }, mode: mode, poster: poster,
        log: log, clock: clock, metrics: webhooks))
    updates = updater.canReload ? updater.start() : nil
    // Other threads run from now on, and may read the environment.
    configuration.source?.environment.close()
    // Some of test mode's mock anchors are outdated on purpose.
    let outdated = mode != .test ? trust.anchors.count - trust.anchorsInForce(at: clock()) : 0
    let warnings =
      configuration.warnings + (mode != .test ? AnchorCertificates.loadWarnings(of: trust.anchors) : [])
      + AnchorCertificates.unknownIssuers(of: configuration.relyingParties, among: trust.anchors)
      + configuration.sources.compactMap(\.omission)
      + PartyCertificates.warnings(of: configuration.relyingParties, at: clock())
      + (outdated > 0 ? ["\(outdated) of \(trust.anchors.count) trust anchors are expired or not yet valid"] : [])
    for warning in warnings {
      log.write(.warning, "configuration.warning", at: clock(), ["message": .string(warning)])
    }
    log.write(
      .info, "server.started", at: clock(),
      [
        "listen": .string(listen.description), "livemode": .bool(mode.isLive),
        "mode": .string(mode.rawValue), "trust_anchors": .integer(Int64(trust.anchors.count)),
        "trust_snapshot": .string(trust.snapshot),
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

  /// Takes no new requests, lets those under way finish within `drainSeconds`, then closes the store.
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

  /// Stops as `stop` does, after `/readyz` has announced it for the configured time.
  package func stopWithNotice() async {
    updater.inForce.current.state.stop()
    log.write(.info, "server.stop_announced", at: clock(), ["seconds": .integer(stopTimes.notice)])
    // If the task is cancelled, the wait ends early.
    try? await Task.sleep(for: .seconds(stopTimes.notice))
    await stop(drainSeconds: Int(stopTimes.drain))
  }

  private static func poster() throws(StartError) -> WebPoster {
    do throws(WebListFetcher.StartError) {
      return try WebPoster()
    } catch {
      throw .unavailable(error.description)
    }
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
    let place = configuration.listen
    do throws(HTTPServerError) {
      let socket =
        if let socket = configuration.socket { socket } else {
          try BoundSocket(address: place.address, port: place.port)
        }
      return try HTTPServer(on: socket, configuration: options, handler: handler)
    } catch {
      throw .unavailable(error.description)
    }
  }
}

/// Makes the store follow the time: expires sessions, erases results past their end, deletes old rows. Also measures
/// how much is in it.
struct Sweeper: Sendable {
  private static let interval = Duration.seconds(5)

  /// The service in force. It is asked for each time, so that a replaced service and its keys are not kept.
  let service: @Sendable () -> VerificationService
  let log: Log
  let clock: @Sendable () -> Timestamp

  /// Runs until it is cancelled.
  func start() -> Task<Void, Never> {
    repeating(every: Self.interval) {
      await sweep()
      await service().measureUsage()
    }
  }

  /// Works in portions, until nothing is left to do.
  private func sweep() async {
    do throws(ServiceError) {
      while !Task.isCancelled, try await service().sweep().total > 0 {}
    } catch {
      // No reply depends on the sweep: readers judge by the time themselves.
      log.write(.warning, "sweep.failed", at: clock(), ["code": .string(error.code.rawValue)])
    }
  }
}

/// Asks every hour whether the relying parties' registration certificates still hold, and tells the log.
struct RegistrationWatch: Sendable {
  private static let interval = Duration.seconds(3_600)

  let service: @Sendable () -> VerificationService
  let log: Log
  let clock: @Sendable () -> Timestamp

  /// Runs until it is cancelled.
  func start() -> Task<Void, Never> {
    repeating(every: Self.interval) {
      let now = clock()
      let service = service()
      let warnings = await PartyCertificates.statusWarnings(
        of: service.relyingParties, asking: service.revocation, at: now)
      // A stop does not wait for a list.
      for warning in Task.isCancelled ? [] : warnings {
        log.write(.warning, "registration.status", at: now, ["message": .string(warning)])
      }
    }
  }
}

/// Does the work now and after each interval, until it is cancelled.
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
  /// Serves in live mode or staging, as the file says, until SIGTERM or SIGINT. Returns the exit code: 0 after a
  /// graceful stop, 78 if the configuration has a fault, 75 if a port or the store is not available. If a stop takes
  /// longer than it may, the process ends with 70.
  package static func run(configurationFile: String) async -> Int32 {
    await run(stoppedBy: { await $0.stopWithNotice() }) { log async throws(StartError) in
      // SIGHUP asks a live server to reload, so it must not end it. A server in test mode ends with its terminal.
      ReloadSignal.install()
      let configuration = try ConfigurationLoader(path: configurationFile).load()
      return try await VerifierServer.start(configuration, log: log, clock: Timestamp.systemNow)
    }
  }

  /// Brings the store to this version's schema and ends: `mdoc serve --migrate`.
  package static func migrate(configurationFile: String) async -> Int32 {
    await migrate { () throws(StartError) in
      let configuration = try ConfigurationLoader(path: configurationFile).load()
      return (configuration.store, configuration.mode)
    }
  }

  package static func migrateTestMode(_ store: StoreLocation) async -> Int32 { await migrate { (store, .test) } }

  private static func migrate(_ find: () throws(StartError) -> (StoreLocation, ServerMode)) async -> Int32 {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    let log = Log(sink: writer.write)
    let code: Int32
    do throws(StartError) {
      let (store, mode) = try find()
      try await store.migrate(mode: mode)
      log.write(
        .info, "store.migrated", at: .systemNow(),
        ["store": .string("\(store)"), "livemode": .bool(mode.isLive), "mode": .string(mode.rawValue)])
      code = 0
    } catch {
      log.write(.error, "store.not_migrated", at: .systemNow(), ["message": .string(error.message)])
      code = error.exitCode
    }
    await writer.close()
    return code
  }

  /// Starts a server, with a log on standard error, waits for SIGTERM or SIGINT, and stops it.
  package static func run(
    stoppedBy stop: (VerifierServer) async -> Void, _ start: (Log) async throws(StartError) -> VerifierServer
  ) async -> Int32 {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    let log = Log(sink: writer.write)
    StopSignal.install()
    let code: Int32
    do throws(StartError) {
      let server = try await start(log)
      let time = server.stopTimes.total
      await StopSignal.wait { StopWatchdog.start(after: time, log: log) }
      await stop(server)
      code = 0
    } catch {
      log.write(.error, "server.not_started", at: .systemNow(), ["message": .string(error.message)])
      code = error.exitCode
    }
    await writer.close()
    return code
  }
}

extension Timestamp {
  /// The time of the wall clock.
  package static func systemNow() -> Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
