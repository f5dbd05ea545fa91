import Base
import HTTP
import Mdoc
import PKIX
import Sessions
import Trust

/// The whole configuration of a server, read from a file or made by test mode.
package struct ServerConfiguration: Sendable {
  var mode: ServerMode
  var listen: ListenAddress
  /// Test mode's socket; nil otherwise. It is bound first, since its port is part of the configuration.
  var socket: BoundSocket?
  var isBehindProxy = false
  package var edge = EdgeConfiguration.open
  /// The address of this server for wallets, `https://host[:port]`; nil if none is configured.
  var publicURL: String?
  /// DER of the revocation list that is served for the readers' certificates; nil if none is configured.
  var readerCRL: [UInt8]?
  package var documentation: DocumentationSite?
  /// Whether `/console` is served.
  package var hasConsole = false
  package var node = NodeName.standard
  var stop = StopTimes.standard
  /// Reads the configuration file again; nil in test mode.
  var source: ConfigurationLoader?
  /// The file's members that need a restart. New values take effect at the next start.
  var fixedMembers: [String: JSON] = [:]
  var store: StoreLocation
  /// The anchors trusted at the start. Anchors of published lists are added when the lists are loaded.
  var anchors: [TrustAnchor]
  /// The plan for loading anchors; nil in test mode, where anchors never change.
  var trust: TrustPlan?
  /// A report for each source; empty until the lists are loaded.
  var sources: [SourceReport] = []
  var clockSkew = Limits.clockSkew
  /// The policy for proofs; nil if no circuits are configured.
  package var proofs: ProofPolicy?
  /// Additional routes; ignored outside test mode.
  package var additions = ServerAdditions.none
  package var fetches = FetchLog()
  package var revocation: any RevocationSource = NoRevocationSource()
  var sealingKeys: [SealingKey]
  var relyingParties: RelyingParties
  var warnings: [String] = []
}

extension ServerConfiguration {
  package init(
    testModeOn socket: BoundSocket, publicURL: String, store: StoreLocation, anchors: [TrustAnchor],
    sealingKeys: [SealingKey], relyingParties: RelyingParties
  ) {
    self.init(
      mode: .test, listen: ListenAddress(address: socket.address, port: socket.port), socket: socket,
      publicURL: publicURL, store: store, anchors: anchors, sealingKeys: sealingKeys, relyingParties: relyingParties)
  }

  /// The service's configuration, at the start and at every reload.
  func service(_ trust: CurrentTrust, metrics: Metrics) -> ServiceConfiguration {
    var parts = ServiceConfiguration(
      mode: mode, relyingParties: relyingParties, protocols: BuiltProtocols.all(in: mode), trust: trust,
      revocation: UnhurriedRevocation(source: revocation), sealingKeys: sealingKeys)
    parts.clockSkew = clockSkew
    parts.publicURL = publicURL
    parts.proofs = proofs
    parts.observe = metrics.finished
    parts.observeProof = metrics.verified
    return parts
  }
}

/// The stages of a live server's shutdown, in seconds. During `notice`, `/readyz` replies 503. During `drain`, requests
/// in progress may finish.
struct StopTimes: Sendable, Hashable {
  /// Seconds for the rest of the shutdown: last replies, deliveries in progress, the store, the log.
  static let closing: Int64 = 10
  static let standard = StopTimes(notice: 5, drain: 20)

  var notice: Int64
  var drain: Int64

  /// Seconds after which the process ends, even if threads still run (`StopWatchdog`).
  var total: Int64 { notice + drain + Self.closing }
}
