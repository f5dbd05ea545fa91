import Base
import HTTP
import Sessions
import Trust

/// What the routes work on: one configuration in force, and the parts that outlive it. Each request refers to it, and
/// copies nothing of it.
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
  /// DER of the revocation list that the readers' certificates name; nil if none is configured.
  let readerCRL: [UInt8]?
  package let clock: @Sendable () -> Timestamp
  let crossOrigin: CrossOrigin
  let state: ServerState

  init(
    service: VerificationService, trust: TrustUpdater, metrics: Metrics, fetches: FetchLog = FetchLog(),
    webhooks: WebhookMetrics = WebhookMetrics(),
    additions: ServerAdditions = .none, isBehindProxy: Bool, edge: Edge = .open, readerCRL: [UInt8]? = nil,
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
    self.clock = clock
    crossOrigin = CrossOrigin(service.relyingParties)
    self.state = state ?? ServerState(loadedAt: clock())
  }

  /// The same server with another configuration. It keeps its counts, store and clock.
  func reconfigured(
    by configuration: ServerConfiguration, trust: TrustUpdater
  ) throws(StartError) -> Application {
    let next: Application
    do throws(ConfigurationError) {
      let service = try service.reconfigured(by: configuration.service(trust.inForce, metrics: metrics))
      next = Application(
        service: service, trust: trust, metrics: metrics, fetches: fetches, webhooks: webhooks, additions: additions,
        isBehindProxy: isBehindProxy, edge: edge, readerCRL: configuration.readerCRL, clock: clock, state: state)
    } catch {
      throw .configuration(error.message)
    }
    // Last, since this step alone cannot be undone.
    try edge.adopt(configuration.edge)
    return next
  }
}

/// The application that answers. It is replaced as a whole. A request takes it once, when its answer begins, and keeps
/// it to its end, so that no reply rests on parts of two configurations.
typealias CurrentApplication = Replaceable<Application>

/// What a server has besides the API of every server: in test mode the mock wallet and a page. A live server has
/// nothing.
package final class ServerAdditions: Sendable {
  package static let none = ServerAdditions()

  /// Routes that `/openapi.json` lists.
  let groups: [RouteGroup]
  /// Component schemas that these routes refer to.
  let schemas: [Schema.Member]
  /// Routes that `/openapi.json` does not list: files that only a page asks for.
  let pages: [Route]
  /// Ends the additions, after the server has stopped.
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

  /// `/openapi.json` of a server with these additions, as it is served. It is made once.
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

/// The state of a server under any configuration: the results of its readings of the configuration, and whether it is
/// about to stop.
final class ServerState: Sendable {
  struct Configuration: Sendable {
    /// When the configuration in force was read.
    var loadedAt: Timestamp
    /// Why the latest reading was not put in force; empty if it was.
    var problems: [Schema.Fault] = []
    /// The number of readings that were not put in force.
    var failures = 0

    var isCurrent: Bool { problems.isEmpty }
  }

  private struct Content {
    var configuration: Configuration
    var isStopping = false
  }

  private let content: Locked<Content>
  let waits: SessionWaits

  /// - Parameter connections: how many may be open at one time; nil is the transport's default.
  init(loadedAt: Timestamp, connections: Int? = nil) {
    content = Locked(Content(configuration: Configuration(loadedAt: loadedAt)))
    waits = SessionWaits(connections: connections ?? HTTPServerConfiguration().maxConnections)
  }

  var configuration: Configuration { content.withLock { $0.configuration } }
  /// Whether a stop has begun. `/readyz` then answers 503, so that new requests go elsewhere.
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

  func failed(_ problems: [Schema.Fault]) -> Configuration {
    content.withLock { content in
      content.configuration.problems = problems
      content.configuration.failures += 1
      return content.configuration
    }
  }
}

/// What stands between the network and the application: rates, proxies, TLS, and the counts of the load.
struct Edge: Sendable {
  let limiter: RateLimiter
  let proxy: ProxyRule
  /// Nil if the server speaks plain HTTP.
  let tls: TLSIdentities?
  let gauges = TransportGauges()

  /// Test mode's: no limits, no TLS.
  static var open: Edge { Edge(limiter: RateLimiter(.none), proxy: ProxyRule(), tls: nil) }

  private init(limiter: RateLimiter, proxy: ProxyRule, tls: TLSIdentities?) {
    self.limiter = limiter
    self.proxy = proxy
    self.tls = tls
  }

  init(_ configuration: EdgeConfiguration) throws(StartError) {
    let tls = try configuration.tls.map { files throws(StartError) in
      do throws(Schema.Fault) { return try files.identities() } catch {
        throw .configuration(files.configuration, [error])
      }
    }
    self.init(limiter: RateLimiter(configuration.limits), proxy: configuration.proxy, tls: tls)
  }

  /// Takes over the rates and the TLS certificate of a new configuration. If the certificate cannot be used, nothing is
  /// taken over. Whether there is TLS at all, and the rest, is decided at the start.
  func adopt(_ configuration: EdgeConfiguration) throws(StartError) {
    if let files = configuration.tls, let tls {
      do throws(Schema.Fault) { try files.replace(in: tls) } catch {
        throw .configuration(files.configuration, [error])
      }
    }
    limiter.adopt(configuration.limits)
  }
}
