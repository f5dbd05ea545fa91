import Base
import HTTP
import Sessions
import Trust

/// Reads the configuration anew while the server runs, on SIGHUP and by the API, and puts it in force.
///
/// Relying parties, their keys and policies, sealing keys and trust change at one moment or not at all. If anything is
/// wrong, the previous configuration stays in force, and the log, the metrics and the API say so.
final class ConfigurationUpdater: Sendable {
  let inForce: CurrentApplication
  private let started: ServerConfiguration
  private let log: Log
  private let queue = LoadQueue<ServerState.Configuration>()
  /// The task that loads published lists at their interval.
  private let trustUpdates = Locked<Task<Void, Never>?>(nil)

  /// - Parameter started: the configuration that the server was started with.
  init(_ inForce: CurrentApplication, started: ServerConfiguration, log: Log) {
    self.inForce = inForce
    self.started = started
    self.log = log
  }

  /// False in test mode, which has no file.
  var canReload: Bool { started.source != nil }

  /// Reads the configuration anew. One reading runs at a time; all callers that ask meanwhile get the result of one
  /// more.
  func reload() async -> ServerState.Configuration { await queue.run(load) }

  private func load() async -> ServerState.Configuration {
    let before = inForce.current
    let state = before.state
    guard let source = started.source else { return state.configuration }
    let now = before.clock()
    do throws(StartError) {
      let configuration = try await Self.read(source, at: now)
      try checkFixedMembers(configuration, source.path)
      // A new updater, so that requests under way keep the trust that they began with.
      let trust = TrustUpdater(replacing: before.trust, by: configuration.trust)
      if let problem = await trust.reload().problem {
        throw .configuration(source.path, [Schema.Fault("/trust", problem)])
      }
      let after = try before.reconfigured(by: configuration, trust: trust)
      inForce.replace(by: after)
      updateTrust(by: trust)
      let status = state.loaded(at: now)
      report(configuration, after, at: now)
      return status
    } catch {
      log.write(.error, "configuration.reload_failed", at: now, ["message": .string(error.message)])
      let problems = error.problems.isEmpty ? [.init("", error.message)] : error.problems
      return state.failed(problems)
    }
  }

  /// Runs on a thread of its own: decrypting keys and reading files would hold up answers.
  private static func read(
    _ source: ConfigurationSource, at now: Timestamp
  ) async throws(StartError) -> ServerConfiguration {
    let outcome = Locked<Result<ServerConfiguration, StartError>?>(nil)
    await BackgroundThread.run {
      let loader = ConfigurationLoader(path: source.path, environment: source.environment, network: source.network)
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
        path,
        changed.map {
          Schema.Fault("/\($0)", "cannot change while the server runs; restart it")
        })
    }
  }

  private func report(_ configuration: ServerConfiguration, _ application: Application, at now: Timestamp) {
    let parties = configuration.relyingParties
    let warnings =
      configuration.warnings + PartyCertificates.warnings(of: parties, at: now)
      + AnchorCertificates.unknownIssuers(of: parties, among: application.trust.inForce.current.anchors)
    for warning in warnings {
      log.write(.warning, "configuration.warning", at: now, ["message": .string(warning)])
    }
    log.write(
      .info, "configuration.reloaded", at: now,
      [
        "relying_parties": .integer(Int64(parties.all.count)),
        "api_keys": .integer(Int64(parties.all.reduce(0) { $0 + $1.apiKeys.count })),
        "trust_snapshot": .string(application.trust.inForce.current.snapshot),
      ])
  }

  // MARK: By itself

  private func updateTrust(by updater: TrustUpdater) {
    let task = updater.start()
    let before = trustUpdates.withLock { current in
      defer { current = task }
      return current
    }
    before?.cancel()
  }

  /// Reloads on every SIGHUP, and loads trust at its interval, until the task is cancelled.
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

/// Runs one load at a time.
///
/// A caller that asks while a load is under way may have changed something that this load has read already. So all such
/// callers get the result of one more load, which begins after it.
final class LoadQueue<Result: Sendable>: Sendable {
  private struct Loads {
    var running: Task<Result, Never>?
    /// The load that begins when the running one ends.
    var next: Task<Result, Never>?
  }

  private let loads = Locked(Loads())

  /// Returns the result of `load`, or of a load that another caller asked for and that has not begun.
  func run(_ load: @escaping @Sendable () async -> Result) async -> Result {
    let task = loads.withLock { loads in
      if let next = loads.next { return next }
      let running = loads.running
      // Not on the cooperative pool, where anything else may compute for long.
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
