import Base
import HTTP
import Sessions
import Trust

/// Reloads a running server's configuration, on SIGHUP or through the API. The new configuration takes effect as a
/// whole. After an error the previous configuration stays in force. The log, the metrics and the API report the error.
final class ConfigurationUpdater: Sendable {
  let inForce: CurrentApplication
  private let started: ServerConfiguration
  private let log: Log
  private let queue = LoadQueue<ServerState.Configuration>()
  private let trustUpdates = Locked<Task<Void, Never>?>(nil)

  /// - Parameter started: the configuration that the server was started with.
  init(_ inForce: CurrentApplication, started: ServerConfiguration, log: Log) {
    self.inForce = inForce
    self.started = started
    self.log = log
  }

  /// False in test mode, which has no file.
  var canReload: Bool { started.source != nil }

  /// One reload runs at a time. All callers that arrive meanwhile share the result of the next reload.
  func reload() async -> ServerState.Configuration { await queue.run(load) }

  private func load() async -> ServerState.Configuration {
    let before = inForce.current
    let state = before.state
    guard let source = started.source else { return state.configuration }
    let now = before.clock()
    do throws(StartError) {
      let configuration = try await Self.read(source, at: now)
      try checkFixedMembers(configuration, source.path)
      // Use a new updater, so that requests in progress keep their trust anchors.
      let trust = TrustUpdater(replacing: before.trust, by: configuration.trust)
      if let problem = await trust.reload().problem {
        throw .configuration(source.path, [InputError("/trust", problem)])
      }
      let after = try before.reconfigured(by: configuration, trust: trust)
      inForce.replace(by: after)
      updateTrust(by: trust)
      let status = state.loaded(at: now)
      report(configuration, after.trust.inForce.current, at: now)
      return status
    } catch {
      log.write(.error, "configuration.reload_failed", at: now, ["message": .string(error.message)])
      let problems = error.problems.isEmpty ? [.init("", error.message)] : error.problems
      return state.failed(problems)
    }
  }

  /// Reads the configuration on a separate thread, since decrypting keys and reading files can delay requests.
  private static func read(
    _ loader: ConfigurationLoader, at now: Timestamp
  ) async throws(StartError) -> ServerConfiguration {
    let outcome = Locked<Result<ServerConfiguration, StartError>?>(nil)
    await BackgroundThread.run {
      let result = Result { () throws(StartError) in try loader.load(at: now) }
      outcome.withLock { $0 = result }
    }
    guard let result = outcome.withLock({ $0 }) else { throw .unavailable("the configuration was not read") }
    return try result.get()
  }

  private func checkFixedMembers(_ configuration: ServerConfiguration, _ path: String) throws(StartError) {
    let changed = started.fixedMembers.keys.sorted().filter {
      started.fixedMembers[$0] != configuration.fixedMembers[$0]
    }
    guard changed.isEmpty else {
      throw .configuration(
        path, changed.map { InputError("/\($0)", "cannot change while the server runs; restart it") })
    }
  }

  private func report(_ configuration: ServerConfiguration, _ trust: TrustStore, at now: Timestamp) {
    let parties = configuration.relyingParties
    log.warn(
      "configuration.warning", at: now,
      configuration.warnings + PartyCertificates.warnings(of: parties, at: now)
        + AnchorCertificates.unknownIssuers(of: parties, among: trust.anchors))
    log.write(
      .info, "configuration.reloaded", at: now,
      [
        "relying_parties": .integer(Int64(parties.all.count)),
        "api_keys": .integer(Int64(parties.all.reduce(0) { $0 + $1.apiKeys.count })),
        "trust_snapshot": .string(trust.snapshot),
      ])
  }

  private func updateTrust(by updater: TrustUpdater) {
    let task = updater.start()
    let before = trustUpdates.withLock { current in
      defer { current = task }
      return current
    }
    before?.cancel()
  }

  /// Reloads the configuration on every SIGHUP, and trust at its interval. Stops when the task is cancelled.
  func start() -> Task<Void, Never> {
    updateTrust(by: inForce.current.trust)
    return Task {
      for await _ in ReloadSignal.arrivals {
        if Task.isCancelled { break }
        _ = await self.reload()
      }
      let task = self.trustUpdates.withLock { $0 }
      task?.cancel()
      await task?.value
    }
  }
}

/// Runs one load at a time. Callers that arrive meanwhile share the next load, since the running load may already have
/// read old files.
final class LoadQueue<Result: Sendable>: Sendable {
  private struct Loads {
    var running: Task<Result, Never>?
    /// The load that begins when the running load ends.
    var next: Task<Result, Never>?
  }

  private let loads = Locked(Loads())

  /// Returns the result of `load`, or of a load that another caller has already queued.
  func run(_ load: @escaping @Sendable () async -> Result) async -> Result {
    let task = loads.withLock { loads in
      if let next = loads.next { return next }
      let running = loads.running
      // Avoids the cooperative pool, where other work may compute for a long time.
      let task = Task(executorPreference: WorkerThreads.shared) { () -> Result in
        if let running {
          _ = await running.value
          self.loads.withLock { $0 = Loads(running: $0.next) }
        }
        let result = await load()
        self.loads.withLock { $0.running = nil }
        return result
      }
      if running == nil { loads.running = task } else { loads.next = task }
      return task
    }
    return await task.value
  }
}

/// Reloads trust through the API, at an interval, and with each new configuration. After an error the previous trust
/// store stays in force.
final class TrustUpdater: Sendable {
  struct Status: Sendable {
    var sources: [SourceReport]
    var loadedAt: Timestamp
    /// The reason why the latest load was rejected; nil if it took effect.
    var problem: String?
    var failures = 0
  }

  let inForce: CurrentTrust
  private let plan: TrustPlan?
  private let log: Log
  private let clock: @Sendable () -> Timestamp
  private let current: Locked<Status>
  private let queue = LoadQueue<Status>()

  init(
    _ inForce: CurrentTrust, plan: TrustPlan?, sources: [SourceReport], log: Log,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.inForce = inForce
    self.plan = plan
    self.log = log
    self.clock = clock
    current = Locked(Status(sources: sources, loadedAt: clock()))
  }

  /// An updater for another plan. Until its first load, the previous updater's trust stays in force.
  init(replacing before: TrustUpdater, by plan: TrustPlan?) {
    inForce = CurrentTrust(before.inForce.current)
    self.plan = plan
    log = before.log
    clock = before.clock
    current = Locked(before.status)
  }

  var status: Status { current.withLock { $0 } }

  /// False in test mode, whose anchors are made at the start and never change.
  var canReload: Bool { plan != nil }

  /// One load runs at a time. All callers that arrive meanwhile share the result of the next load.
  func reload() async -> Status { await queue.run(load) }

  private func load() async -> Status {
    guard let plan else { return status }
    do throws(TrustLoadError) {
      let load = try await plan.loader.load(at: clock())
      if let problem = TrustPlan.problem(with: load.anchors, in: plan.mode) { return refuse(problem, load.sources) }
      let store: TrustStore
      do throws(TrustStoreError) {
        store = try TrustStore(
          anchors: load.anchors, allowsTestCertificates: false, allowsTestTier: plan.mode != .live)
      } catch {
        // A list without authorities withdraws the authorities of its previous version.
        let isWithdrawn = load.sources.contains { $0.outcome == .loaded && $0.validUntil != nil }
        guard isWithdrawn else { return refuse(plan.noAnchor, load.sources) }
        store = .trustingNobody
      }
      let before = inForce.current.snapshot
      inForce.replace(by: store)
      store.prepareForService()
      let status = current.withLock { status in
        status = Status(sources: load.sources, loadedAt: clock(), failures: status.failures)
        return status
      }
      log.write(
        store.anchors.isEmpty ? .error : .info, "trust.reloaded", at: clock(),
        [
          "trust_anchors": .integer(Int64(store.anchors.count)), "trust_snapshot": .string(store.snapshot),
          "changed": .bool(store.snapshot != before),
        ])
      for source in load.sources where source.outcome != .loaded { warn(of: source) }
      log.warn(
        "trust.warning", at: clock(),
        load.sources.compactMap(\.omission) + AnchorCertificates.loadWarnings(of: store.anchors))
      return status
    } catch {
      return refuse(error.description, status.sources)
    }
  }

  private func refuse(_ problem: String, _ sources: [SourceReport]) -> Status {
    log.write(.error, "trust.reload_failed", at: clock(), ["message": .string(problem)])
    return current.withLock { status in
      status.sources = sources
      status.problem = problem
      status.failures += 1
      return status
    }
  }

  private func warn(of source: SourceReport) {
    let codes = source.checks.filter { $0.outcome == .failed }.map { JSON.string($0.code.rawValue) }
    log.write(
      .warning, "trust.list_not_loaded", at: clock(),
      [
        "source": .string(source.name), "outcome": .string(source.outcome.rawValue), "codes": .array(codes),
        "message": .string(source.problem),
      ])
  }

  /// Reloads at the plan's interval until the task is cancelled. Returns nil if there are no published lists.
  func start() -> Task<Void, Never>? {
    guard let plan, plan.hasLists else { return nil }
    return Task {
      while (try? await Task.sleep(for: .seconds(plan.refreshSeconds))) != nil { _ = await self.reload() }
    }
  }
}
