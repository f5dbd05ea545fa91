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
  /// A socket that is bound already; nil for a server with a configuration. Test mode needs its port first, since its
  /// address is part of what it serves.
  var socket: BoundSocket?
  var isBehindProxy = false
  package var edge = EdgeConfiguration.open
  /// The address of this server for wallets, `https://host[:port]`; nil if none is configured.
  var publicURL: String?
  /// DER of the revocation list that is served for the readers' certificates; nil if none is configured.
  var readerCRL: [UInt8]?
  /// Names this process's chain of audit entries.
  package var node = NodeName.standard
  var stop = StopTimes.standard
  /// The file that it was read from; nil in test mode.
  var source: ConfigurationSource?
  /// The members whose new values a running server does not take, as they stand in the file.
  var fixedMembers: [String: JSON] = [:]
  var store: StoreLocation
  /// The anchors trusted at the start. If published lists are configured, these are the anchors before the lists are
  /// loaded.
  var anchors: [TrustAnchor]
  /// Nil in test mode, whose anchors never change.
  var trust: TrustPlan?
  /// A report for each source after the lists were loaded.
  var sources: [SourceReport] = []
  var clockSkew = Limits.clockSkew
  /// By what zero-knowledge proofs are verified; nil where no circuits are configured.
  package var proofs: ProofPolicy?
  /// Test mode's further routes. Every other mode ignores them.
  package var additions = ServerAdditions.none
  /// Counts what is fetched, for the metrics.
  package var fetches = FetchLog()
  package var revocation: any RevocationSource = NoRevocationSource()
  var sealingKeys: [SealingKey]
  var relyingParties: RelyingParties
  /// What is allowed but should be changed.
  var warnings: [String] = []
}

extension ServerConfiguration {
  /// The configuration of a server in test mode, on a socket that is bound already.
  package init(
    testModeOn socket: BoundSocket, publicURL: String, store: StoreLocation, anchors: [TrustAnchor],
    sealingKeys: [SealingKey], relyingParties: RelyingParties
  ) {
    self.init(
      mode: .test, listen: ListenAddress(address: socket.address, port: socket.port), socket: socket,
      publicURL: publicURL, store: store, anchors: anchors, sealingKeys: sealingKeys, relyingParties: relyingParties)
  }
}

/// Makes the service's configuration, at the start and at every reload.
extension ServerConfiguration {
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

/// How a live server stops. First `/readyz` answers 503 for `notice` seconds, so that load balancers send requests
/// elsewhere. Then requests under way have `drain` seconds to finish.
struct StopTimes: Sendable, Hashable {
  /// Seconds for the rest: the last replies, deliveries under way, the store, the log.
  static let closing: Int64 = 10
  static let standard = StopTimes(notice: 5, drain: 20)

  var notice: Int64
  var drain: Int64

  /// Seconds after which the process ends, even if threads still run (`StopWatchdog`).
  var total: Int64 { notice + drain + Self.closing }
}

/// Asks another revocation source, and meanwhile lends the request's place to another. A publisher that hangs holds up
/// only the requests that need its lists.
struct UnhurriedRevocation: RevocationSource {
  let source: any RevocationSource

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    guard !questions.isEmpty else { return await source.evidence(for: questions, at: now) }
    return await HandlingPlace.lend { await source.evidence(for: questions, at: now) }
  }
}
