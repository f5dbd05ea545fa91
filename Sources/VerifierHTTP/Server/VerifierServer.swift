import Fetching
import Mdoc
import MockIssuance
import Primitives
import Trust
import VerificationService

/// A whole server: trust, store, service, HTTP and the sweeper, from the start to the last commit.
public final class VerifierServer: Sendable {
  /// Where it listens, with the port that it got.
  public let listen: ListenAddress
  public let isLive: Bool

  private let http: HTTPServer
  private let store: any SessionStore
  private let sweeper: Task<Void, Never>
  private let dispatcher: WebhookDispatcher
  private let updates: Task<Void, Never>?
  private let temporaryFolder: String?
  private let publisher: MockPublisher?
  private let log: Log
  private let clock: @Sendable () -> Timestamp

  /// `http://127.0.0.1:8080`.
  public var baseURL: String { "http://\(listen)" }

  /// Opens everything, or nothing: what fails is closed again by going out of scope.
  init(
    _ configuration: ServerConfiguration, mockAuthority: MockAuthority? = nil, log: Log,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(StartError) {
    let trust: TrustStore
    do throws(TrustStoreError) {
      trust = try TrustStore(anchors: configuration.anchors, allowsTestCertificates: !configuration.isLive)
    } catch {
      throw .configuration("no trust anchor is configured")
    }
    store = try configuration.store.open(isLive: configuration.isLive)
    let inForce = TrustInForce(trust)
    let updater = TrustUpdater(
      inForce, plan: configuration.trust, sources: configuration.sources, log: log, clock: clock)
    let service: VerificationService
    do throws(ConfigurationError) {
      var parts = ServiceConfiguration(
        isLive: configuration.isLive, relyingParties: configuration.relyingParties,
        protocols: Self.protocols(isLive: configuration.isLive), trust: inForce,
        revocation: configuration.revocation, sealingKeys: configuration.sealingKeys)
      parts.clockSkew = configuration.clockSkew
      parts.publicURL = configuration.publicURL
      service = try VerificationService(parts, store: store, clock: clock)
    } catch {
      throw .configuration(error.message)
    }
    let webhooks = WebhookMetrics()
    let poster = try Self.poster()
    let application = Application(
      service: service, trust: updater, metrics: Metrics(), fetches: configuration.fetches,
      webhooks: webhooks,
      mockWallet: configuration.isLive ? nil : mockAuthority.map(MockWalletEndpoint.init),
      playground: configuration.isLive ? nil : configuration.playground,
      isBehindProxy: configuration.isBehindProxy, clock: clock)
    http = try Self.listen(configuration, APIHandler(application, log: log))
    listen = ListenAddress(address: configuration.listen.address, port: http.port)
    isLive = configuration.isLive
    temporaryFolder = configuration.temporaryFolder
    publisher = configuration.publisher
    self.log = log
    self.clock = clock
    sweeper = Sweeper(service: service, log: log, clock: clock).start()
    dispatcher = WebhookDispatcher(
      .init(
        store: store, relyingParties: { service.relyingParties }, isLive: isLive, poster: poster, log: log,
        clock: clock, metrics: webhooks))
    updates = updater.canReload ? updater.start() : nil
    // Among the mock anchors of test mode some are outdated on purpose.
    let outdated = isLive ? trust.anchors.count - trust.anchorsInForce(at: clock()) : 0
    let warnings =
      configuration.warnings + ReaderCertificates.warnings(of: configuration.relyingParties, at: clock())
      + (outdated > 0 ? ["\(outdated) of \(trust.anchors.count) trust anchors are expired or not yet valid"] : [])
    for warning in warnings {
      log.write(.warning, "configuration.warning", at: clock(), ["message": .string(warning)])
    }
    log.write(
      .info, "server.started", at: clock(),
      [
        "listen": .string(listen.description), "livemode": .bool(isLive),
        "trust_anchors": .integer(Int64(trust.anchors.count)), "trust_snapshot": .string(trust.snapshot),
      ])
  }

  /// Loads what others publish, then opens everything.
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
    guard load.anchors.contains(where: { $0.tier == .live }) else {
      throw .configuration("no trust anchor for live mode: \(problems.joined(separator: "; "))")
    }
    var configuration = configuration
    configuration.anchors = load.anchors
    configuration.sources = load.sources
    configuration.warnings += problems
    return try VerifierServer(configuration, log: log, clock: clock)
  }

  /// Takes no new requests, lets those under way finish within `drainSeconds`, then closes the store.
  public func stop(drainSeconds: Int = 20) async {
    log.write(.info, "server.stopping", at: clock())
    await http.stop(drainSeconds: drainSeconds)
    updates?.cancel()
    sweeper.cancel()
    await sweeper.value
    await dispatcher.stop()
    await updates?.value
    await store.close()
    await publisher?.stop()
    if let temporaryFolder { TemporaryStore.remove(temporaryFolder) }
    log.write(.info, "server.stopped", at: clock())
  }

  private static func poster() throws(StartError) -> WebPoster {
    do throws(WebListFetcher.StartError) {
      return try WebPoster()
    } catch {
      throw .unavailable(error.description)
    }
  }

  /// All that is built, in live and in test mode; what a relying party lacks keys for is refused at the creation.
  static func protocols(isLive: Bool) -> [any WalletProtocol] {
    let web = OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init)
    return [AppleInAppProtocol(showsSimulatedAnswers: !isLive), AnnexCProtocol()] + web + [
      OpenID4VPRedirectProtocol(), AnnexBProtocol(), ProximityProtocol(),
    ]
  }

  private static func listen(
    _ configuration: ServerConfiguration, _ handler: APIHandler
  ) throws(StartError) -> HTTPServer {
    var options = HTTPServerConfiguration()
    options.maxBodyBytes = Limits.requestBodyBytes
    options.maxHeaderBytes = Limits.requestHeaderBytes
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
