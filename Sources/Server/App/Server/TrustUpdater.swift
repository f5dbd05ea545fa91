import Base
import Trust

/// Loads trust anew and puts it in force: by the API, at an interval, and with a new configuration.
///
/// The new store takes the old one's place as a whole. If loading fails the old one stays in force, and the log, the
/// metrics and the API say so.
final class TrustUpdater: Sendable {
  /// The result of the last load.
  struct Status: Sendable {
    var sources: [SourceReport]
    var loadedAt: Timestamp
    /// Why the latest load was not put in force; nil if it was.
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

  /// An updater by another plan. It has the trust of the previous updater until its first load; the previous updater
  /// keeps its own.
  init(replacing before: TrustUpdater, by plan: TrustPlan?) {
    inForce = CurrentTrust(before.inForce.current)
    self.plan = plan
    log = before.log
    clock = before.clock
    current = Locked(before.status)
  }

  var status: Status { current.withLock { $0 } }

  /// False in test mode, whose anchors are made at the start and stay.
  var canReload: Bool { plan != nil }

  /// Loads trust anew. One load runs at a time; all callers that ask meanwhile get the result of one more.
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
        // A list was loaded that names no authority. Its publisher thereby withdraws those of the previous list, which
        // must not stay trusted.
        let isWithdrawn = load.sources.contains { $0.outcome == .loaded && $0.validUntil != nil }
        guard isWithdrawn else { return refuse(plan.noAnchor, load.sources) }
        store = .trustingNobody
      }
      let before = inForce.current.snapshot
      inForce.replace(by: store)
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
      for warning in load.sources.compactMap(\.omission) + AnchorCertificates.loadWarnings(of: store.anchors) {
        log.write(.warning, "trust.warning", at: clock(), ["message": .string(warning)])
      }
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

  // MARK: By itself

  /// Reloads at the plan's interval until the task is cancelled. Nil if there are no published lists.
  func start() -> Task<Void, Never>? {
    guard let plan, plan.hasLists else { return nil }
    return Task {
      while (try? await Task.sleep(for: .seconds(plan.refreshSeconds))) != nil { _ = await self.reload() }
    }
  }
}
