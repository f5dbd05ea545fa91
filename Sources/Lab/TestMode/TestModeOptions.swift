import App
import Base
import Cryptography
import Mdoc
import Sessions

/// How to start test mode. It binds to loopback, always.
package struct TestModeOptions: Sendable {
  /// With the same seed come the same anchors, keys and API key, so that a store can be served again; nil for new ones.
  package var seed: [UInt8]?
  /// 0: a free port.
  package var port: UInt16 = 0
  /// Nil for a new SQLite file in the folder for temporary files.
  package var store: StoreLocation?
  /// Its name among those that share the store.
  package var node = NodeName.standard
  package var merchantID = "merchant.test.mdoc"
  package var teamID = "TESTTEAM01"
  /// Keys that apps' answers are encrypted to, a real merchant's, say; none for one that is made.
  package var appleKeys: [PrivateKey] = []
  /// What the relying party wants to know about revocation.
  package var revocation = RevocationPolicy.requireGood
  /// Origins of pages that may ask and may hold client secrets, beside the server's own.
  package var origins: [String] = []
  /// Where the relying party is told of events: on this machine or by HTTPS.
  package var webhookURL: String?
  /// With which evidence of the relying party's sessions is sealed; nil: none is kept.
  package var evidenceKey: EvidenceKey?
  /// Milliseconds that a request may wait for its turn before it is refused for load; nil for what a live server has.
  package var patience: Int?
  package var clock: @Sendable () -> Timestamp = Timestamp.systemNow
  /// Takes the log's lines where the server is started as part of another program.
  package var log: @Sendable (String) -> Void = { _ in }

  package init() {}
}
