import Primitives
import Trust
import VerificationService

/// What the routes work on: one configuration in force, and what outlives it. Each request refers to it, and copies
/// nothing of it.
final class Application: Sendable {
  let service: VerificationService
  let trust: TrustUpdater
  let metrics: Metrics
  /// Counts the lists that the server fetched.
  let fetches: FetchLog
  /// Counts the events that were delivered.
  let webhooks: WebhookMetrics
  /// Test mode alone has one.
  let mockWallet: MockWalletEndpoint?
  /// Test mode alone has one.
  let playground: Playground?
  let isBehindProxy: Bool
  let edge: Edge
  let clock: @Sendable () -> Timestamp
  let crossOrigin: CrossOrigin
  let state: ServerState

  init(
    service: VerificationService, trust: TrustUpdater, metrics: Metrics, fetches: FetchLog = FetchLog(),
    webhooks: WebhookMetrics = WebhookMetrics(),
    mockWallet: MockWalletEndpoint?, playground: Playground? = nil, isBehindProxy: Bool,
    edge: Edge = .open, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.service = service
    self.trust = trust
    self.metrics = metrics
    self.fetches = fetches
    self.webhooks = webhooks
    self.mockWallet = mockWallet
    self.playground = playground
    self.isBehindProxy = isBehindProxy
    self.edge = edge
    self.clock = clock
    crossOrigin = CrossOrigin(service.relyingParties)
    state = ServerState(loadedAt: clock())
  }

  private init(_ other: Application, service: VerificationService, trust: TrustUpdater) {
    self.service = service
    self.trust = trust
    metrics = other.metrics
    fetches = other.fetches
    webhooks = other.webhooks
    mockWallet = other.mockWallet
    playground = other.playground
    isBehindProxy = other.isBehindProxy
    edge = other.edge
    clock = other.clock
    crossOrigin = CrossOrigin(service.relyingParties)
    state = other.state
  }

  /// The same server by another configuration, with its counts, store and clock.
  func reconfigured(
    by configuration: ServerConfiguration, trust: TrustUpdater
  ) throws(StartError) -> Application {
    let next: Application
    do throws(ConfigurationError) {
      let service = try service.reconfigured(by: configuration.service(trust.inForce, metrics: metrics))
      next = Application(self, service: service, trust: trust)
    } catch {
      throw .configuration(error.message)
    }
    // Last, since it is the one step that cannot be taken back.
    try edge.adopt(configuration.edge)
    return next
  }
}
