import Base
import HTTP
import Mdoc
import PKIX
import Sessions
import Trust

/// What a server is made of, whether a file said so or test mode made it up.
package struct ServerConfiguration: Sendable {
  var isLive: Bool
  var listen: ListenAddress
  /// Bound before the rest is made: test mode's, whose address is part of what it serves.
  var socket: BoundSocket?
  var isBehindProxy = false
  package var edge = EdgeConfiguration.open
  /// Where wallets reach this server, `https://host[:port]`.
  var publicURL: String?
  /// Names this process's chain of audit entries.
  package var node = NodeName.standard
  var stop = StopTimes.standard
  /// The file, where there is one: test mode has none.
  var source: ConfigurationSource?
  /// Members as they are in the file, of which a running server takes no new value.
  var fixedMembers: [String: JSON] = [:]
  var store: StoreLocation
  /// What is trusted at the start; where there are published lists, before they are loaded.
  var anchors: [TrustAnchor]
  /// Nil in test mode, whose anchors stay.
  var trust: TrustPlan?
  /// What loading the lists came to.
  var sources: [SourceReport] = []
  var clockSkew = Limits.clockSkew
  /// By what zero-knowledge proofs are verified; nil where no circuits are configured.
  package var proofs: ProofPolicy?
  /// Test mode's; a live server takes none.
  package var additions = ServerAdditions.none
  /// Counts what is fetched, for the metrics.
  package var fetches = FetchLog()
  package var revocation: any RevocationSource = NoRevocationSource()
  var sealingKeys: [SealingKey]
  var relyingParties: RelyingParties
  /// What is allowed and yet better changed.
  var warnings: [String] = []
}

extension ServerConfiguration {
  /// Of a server in test mode, on a socket that is bound already.
  package init(
    testModeOn socket: BoundSocket, publicURL: String, store: StoreLocation, anchors: [TrustAnchor],
    sealingKeys: [SealingKey], relyingParties: RelyingParties
  ) {
    self.init(
      isLive: false, listen: ListenAddress(address: socket.address, port: socket.port), socket: socket,
      publicURL: publicURL, store: store, anchors: anchors, sealingKeys: sealingKeys, relyingParties: relyingParties)
  }
}

/// What the application is made of, at the start and at every reload.
extension ServerConfiguration {
  func service(_ trust: CurrentTrust, metrics: Metrics) -> ServiceConfiguration {
    var parts = ServiceConfiguration(
      isLive: isLive, relyingParties: relyingParties, protocols: BuiltProtocols.all(isLive: isLive), trust: trust,
      revocation: UnhurriedRevocation(source: revocation), sealingKeys: sealingKeys)
    parts.clockSkew = clockSkew
    parts.publicURL = publicURL
    parts.proofs = proofs
    parts.observe = metrics.finished
    return parts
  }
}

/// How a live server stops: first `/readyz` says so, for `notice` seconds, so that whoever balances load sends its
/// requests elsewhere; then requests under way have `drain` seconds to finish.
struct StopTimes: Sendable, Hashable {
  /// Seconds for what comes after both: the last replies, deliveries under way, the store, the log.
  static let closing: Int64 = 10
  static let standard = StopTimes(notice: 5, drain: 20)

  var notice: Int64
  var drain: Int64

  /// Seconds after which the process has ended, whatever its threads do (`StopWatchdog`).
  var total: Int64 { notice + drain + Self.closing }
}

/// Revocation by another source, with the request's place lent to others while publishers are waited for: one that
/// hangs must hold up nobody but those who ask for its lists.
struct UnhurriedRevocation: RevocationSource {
  let source: any RevocationSource

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    guard !questions.isEmpty else { return await source.evidence(for: questions, at: now) }
    return await HandlingPlace.lend { await source.evidence(for: questions, at: now) }
  }
}
