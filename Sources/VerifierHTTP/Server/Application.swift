import Primitives
import Trust
import VerificationService

/// What the routes work on: one configuration in force, and what outlives it.
struct Application: Sendable {
  private(set) var service: VerificationService
  private(set) var trust: TrustUpdater
  let metrics: Metrics
  /// Counts the lists that the server fetched.
  let fetches: FetchLog
  /// Counts the events that were delivered.
  let webhooks: WebhookMetrics
  /// Test mode alone has one.
  let mockWallet: MockWalletEndpoint?
  /// Test mode alone has one.
  var playground: Playground?
  let isBehindProxy: Bool
  let edge: Edge
  let clock: @Sendable () -> Timestamp
  private(set) var crossOrigin: CrossOrigin
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

  /// The same server by another configuration, with its counts, store and clock.
  func reconfigured(
    by configuration: ServerConfiguration, trust: TrustUpdater
  ) throws(StartError) -> Application {
    var next = self
    do throws(ConfigurationError) {
      next.service = try service.reconfigured(by: configuration.service(trust.inForce, metrics: metrics))
    } catch {
      throw .configuration(error.message)
    }
    // Last, since it is the one step that cannot be taken back.
    try edge.adopt(configuration.edge)
    next.trust = trust
    next.crossOrigin = CrossOrigin(next.service.relyingParties)
    return next
  }
}
