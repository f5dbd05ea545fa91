import Base
import HTTP
import Sessions
import Trust

/// A configuration in force, and the parts of the server that outlive it. Each request refers to one application.
package final class Application: Sendable {
  package let service: VerificationService
  let trust: TrustUpdater
  let metrics: Metrics
  let fetches: FetchLog
  let webhooks: WebhookMetrics
  let additions: ServerAdditions
  let isBehindProxy: Bool
  let edge: Edge
  /// The revocation list for the readers' certificates, in DER; nil if none is configured.
  let readerCRL: [UInt8]?
  /// The pages of `/docs`.
  let documentation: DocumentationSite?
  /// Whether `/console` is served.
  let hasConsole: Bool
  package let clock: @Sendable () -> Timestamp
  let crossOrigin: CrossOrigin
  let state: ServerState

  init(
    service: VerificationService, trust: TrustUpdater, metrics: Metrics, fetches: FetchLog = FetchLog(),
    webhooks: WebhookMetrics = WebhookMetrics(),
    additions: ServerAdditions = .none, isBehindProxy: Bool, edge: Edge = .open, readerCRL: [UInt8]? = nil,
    documentation: DocumentationSite? = nil, hasConsole: Bool = false,
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
    self.readerCRL = readerCRL
    self.documentation = documentation
    self.hasConsole = hasConsole
    self.clock = clock
    crossOrigin = CrossOrigin(service.relyingParties)
    self.state = state ?? ServerState(loadedAt: clock())
  }

  /// The same server with another configuration. Keeps the counts, the store and the clock.
  func reconfigured(
    by configuration: ServerConfiguration, trust: TrustUpdater
  ) throws(StartError) -> Application {
    let service = try StartError.checking { () throws(ConfigurationError) -> VerificationService in
      try self.service.reconfigured(by: configuration.service(trust.inForce, metrics: metrics))
    }
    let next = Application(
      service: service, trust: trust, metrics: metrics, fetches: fetches, webhooks: webhooks, additions: additions,
      isBehindProxy: isBehindProxy, edge: edge, readerCRL: configuration.readerCRL,
      documentation: configuration.documentation, hasConsole: configuration.hasConsole, clock: clock, state: state)
    // Do this last: it is the only step that cannot be undone.
    try edge.adopt(configuration.edge)
    return next
  }
}

/// The application in force. Each request keeps one application until it ends, so that no reply mixes two
/// configurations.
typealias CurrentApplication = Replaceable<Application>

/// Additions to the API. In test mode they are the mock wallet and a page. A live server has no additions.
package final class ServerAdditions: Sendable {
  package static let none = ServerAdditions()

  let groups: [RouteGroup]
  let schemas: [Schema.Member]
  /// Routes that `/openapi.json` does not list: files of pages.
  let pages: [Route]
  /// Called after the server has stopped.
  let end: @Sendable () async -> Void

  private let documents = Locked<[OpenAPIVersion: [UInt8]]>([:])

  package init(
    groups: [RouteGroup] = [], schemas: [Schema.Member] = [], pages: [Route] = [],
    end: @escaping @Sendable () async -> Void = {}
  ) {
    self.groups = groups
    self.schemas = schemas
    self.pages = pages
    self.end = end
  }

  /// `/openapi.json` of a server with these additions. It is made once.
  package func openAPI(_ version: OpenAPIVersion = .current) -> [UInt8] {
    documents.withLock { documents in
      if let made = documents[version] { return made }
      let document = OpenAPIDocument.json(with: self)
      let made = (version == .older ? OpenAPIDowngrade.json(document) : document).serialized()
      documents[version] = made
      return made
    }
  }
}

/// The parts of a server's state that outlive a configuration: the results of reloads, the waiting requests, and
/// whether a stop has begun.
final class ServerState: Sendable {
  struct Configuration: Sendable {
    var loadedAt: Timestamp
    /// The reasons why the latest reload was rejected; empty if it took effect.
    var problems: [InputError] = []
    var failures = 0

    var isCurrent: Bool { problems.isEmpty }
  }

  private struct Content {
    var configuration: Configuration
    var isStopping = false
  }

  private let content: Locked<Content>
  let waits: SessionWaits

  /// - Parameter connections: the maximum number of open connections; nil means the transport's default.
  init(loadedAt: Timestamp, connections: Int? = nil) {
    content = Locked(Content(configuration: Configuration(loadedAt: loadedAt)))
    waits = SessionWaits(connections: connections ?? HTTPServerConfiguration().maxConnections)
  }

  var configuration: Configuration { content.withLock { $0.configuration } }
  /// True once a stop has begun. `/readyz` then replies 503, so that load balancers send new requests elsewhere.
  var isStopping: Bool { content.withLock { $0.isStopping } }

  func stop() {
    content.withLock { $0.isStopping = true }
    waits.close()
  }

  func loaded(at now: Timestamp) -> Configuration {
    content.withLock { content in
      content.configuration = Configuration(loadedAt: now, failures: content.configuration.failures)
      return content.configuration
    }
  }

  func failed(_ problems: [InputError]) -> Configuration {
    content.withLock { content in
      content.configuration.problems = problems
      content.configuration.failures += 1
      return content.configuration
    }
  }
}

/// The edge between the network and the application: rates, proxies, TLS, and load counters.
struct Edge: Sendable {
  let limiter: RateLimiter
  let proxy: ProxyRule
  let tls: TLSIdentities?
  let gauges = TransportGauges()

  /// The edge of test mode: no limits, no TLS.
  static var open: Edge { Edge(limiter: RateLimiter(.none), proxy: ProxyRule(), tls: nil) }

}

extension Edge {
  init(_ configuration: EdgeConfiguration) throws(StartError) {
    let tls = try configuration.tls.map { files throws(StartError) in try files.load() }
    self.init(limiter: RateLimiter(configuration.limits), proxy: configuration.proxy, tls: tls)
  }

  /// Applies the new rates and the new TLS certificate. Applies neither if the certificate is unusable. Changes nothing
  /// else.
  func adopt(_ configuration: EdgeConfiguration) throws(StartError) {
    if let files = configuration.tls, let tls { try files.load(into: tls) }
    limiter.adopt(configuration.limits)
  }
}
