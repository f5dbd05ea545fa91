import Base
import Sessions
import Trust

/// What the routes work on: one configuration in force, and what outlives it. Each request refers to it, and copies
/// nothing of it.
package final class Application: Sendable {
  package let service: VerificationService
  let trust: TrustUpdater
  let metrics: Metrics
  /// Counts the lists that the server fetched.
  let fetches: FetchLog
  /// Counts the events that were delivered.
  let webhooks: WebhookMetrics
  let additions: ServerAdditions
  let isBehindProxy: Bool
  let edge: Edge
  package let clock: @Sendable () -> Timestamp
  let crossOrigin: CrossOrigin
  let state: ServerState

  init(
    service: VerificationService, trust: TrustUpdater, metrics: Metrics, fetches: FetchLog = FetchLog(),
    webhooks: WebhookMetrics = WebhookMetrics(),
    additions: ServerAdditions = .none, isBehindProxy: Bool, edge: Edge = .open,
    clock: @escaping @Sendable () -> Timestamp, state: ServerState? = nil
  ) {
    self.service = service
    self.trust = trust
    self.metrics = metrics
    self.fetches = fetches
    self.webhooks = webhooks
    self.additions = additions
    self.isBehindProxy = isBehindProxy
    self.edge = edge
    self.clock = clock
    crossOrigin = CrossOrigin(service.relyingParties)
    self.state = state ?? ServerState(loadedAt: clock())
  }

  /// The same server by another configuration, with its counts, store and clock.
  func reconfigured(
    by configuration: ServerConfiguration, trust: TrustUpdater
  ) throws(StartError) -> Application {
    let next: Application
    do throws(ConfigurationError) {
      let service = try service.reconfigured(by: configuration.service(trust.inForce, metrics: metrics))
      next = Application(
        service: service, trust: trust, metrics: metrics, fetches: fetches, webhooks: webhooks, additions: additions,
        isBehindProxy: isBehindProxy, edge: edge, clock: clock, state: state)
    } catch {
      throw .configuration(error.message)
    }
    // Last, since it is the one step that cannot be taken back.
    try edge.adopt(configuration.edge)
    return next
  }
}
