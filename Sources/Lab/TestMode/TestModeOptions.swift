import Cryptography
import Mdoc
import Base
import Sessions
import App

/// How to start test mode. It binds to loopback, always.
public struct TestModeOptions: Sendable {
  /// With the same seed come the same anchors, keys and API key, so that a store can be served again; nil for new ones.
  public var seed: [UInt8]?
  /// 0: a free port.
  public var port: UInt16 = 0
  /// Nil for a new SQLite file in the folder for temporary files.
  public var store: StoreLocation?
  /// Its name among those that share the store.
  public var node = NodeName.standard
  public var merchantID = "merchant.test.mdoc"
  public var teamID = "TESTTEAM01"
  /// Keys that apps' answers are encrypted to, a real merchant's, say; none for one that is made.
  public var appleKeys: [PrivateKey] = []
  /// What the relying party wants to know about revocation.
  public var revocation = RevocationPolicy.requireGood
  /// Origins of pages that may ask and may hold client secrets, beside the server's own.
  public var origins: [String] = []
  /// Where the relying party is told of events: on this machine or by HTTPS.
  public var webhookURL: String?
  /// With which evidence of the relying party's sessions is sealed; nil: none is kept.
  public var evidenceKey: EvidenceKey?
  /// Milliseconds that a request may wait for its turn before it is refused for load; nil for what a live server has.
  public var patience: Int?
  public var clock: @Sendable () -> Timestamp = Timestamp.systemNow
  /// Takes the log's lines where the server is started as part of another program.
  public var log: @Sendable (String) -> Void = { _ in }

  public init() {}
}
