import PKIX
import Primitives
import Trust
import VerificationService

/// What a server is made of, whether a file said so or test mode made it up.
struct ServerConfiguration: Sendable {
  var isLive: Bool
  var listen: ListenAddress
  /// Bound before the rest is made: test mode's, whose address is part of what it serves.
  var socket: BoundSocket?
  var isBehindProxy = false
  var edge = EdgeConfiguration.open
  /// Where wallets reach this server, `https://host[:port]`.
  var publicURL: String?
  /// Names this process's chain of audit entries.
  var node = NodeName.standard
  var stop = StopTimes.standard
  /// The file, where there is one: test mode has none.
  var source: ConfigurationSource?
  /// Members as they are in the file, of which a running server takes no new value.
  var fixedMembers: [String: JSON] = [:]
  var store: StoreLocation
  /// A folder of ours that goes with the server: test mode's.
  var temporaryFolder: String?
  /// What is trusted at the start; where there are published lists, before they are loaded.
  var anchors: [TrustAnchor]
  /// Nil in test mode, whose anchors stay.
  var trust: TrustPlan?
  /// What loading the lists came to.
  var sources: [SourceReport] = []
  var clockSkew = Limits.clockSkew
  /// Test mode's, which goes with the server.
  var publisher: MockPublisher?
  /// Test mode's page.
  var playground: Playground?
  /// Counts what is fetched, for the metrics.
  var fetches = FetchLog()
  var revocation: any RevocationSource = NoRevocationSource()
  var sealingKeys: [SealingKey]
  var relyingParties: RelyingParties
  /// What is allowed and yet better changed.
  var warnings: [String] = []
}
