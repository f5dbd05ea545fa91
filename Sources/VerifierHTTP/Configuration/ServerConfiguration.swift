import PKIX
import Primitives
import VerificationService

/// What a server is made of, whether a file said so or test mode made it up.
struct ServerConfiguration: Sendable {
  var isLive: Bool
  var listen: ListenAddress
  var isBehindProxy = false
  /// Of the SQLite file.
  var storePath: String
  /// A folder of ours that goes with the server: test mode's.
  var temporaryFolder: String?
  var anchors: [TrustAnchor]
  var clockSkew = Limits.clockSkew
  var sealingKeys: [SealingKey]
  var relyingParties: RelyingParties
  /// What is allowed and yet better changed.
  var warnings: [String] = []
}
