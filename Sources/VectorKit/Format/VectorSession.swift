/// What the relying party knows of the session that the answer is for.
public enum VectorSession: Sendable, Hashable {
  /// Apple's in-app request: the input is the encrypted envelope.
  case appleInApp(AppleInApp)
  /// A reader in person: the input is the DeviceResponse.
  case proximity(Proximity)
  /// No answer of a wallet: the input is a list of anchors, judged by itself.
  case list(VectorList)

  public struct AppleInApp: Sendable, Hashable {
    public var nonce: [UInt8]
    public var merchantID: String
    public var teamID: String
    /// The P-256 scalar that opens the answer: a test key, public like everything here.
    public var recipientKey: [UInt8]
  }

  public struct Proximity: Sendable, Hashable {
    /// The encoded SessionTranscript.
    public var transcript: [UInt8]
    /// The P-256 scalar of the reader's ephemeral key, for a device MAC; nil where the verifier has none.
    public var readerKey: [UInt8]?
  }

  public var protocolName: String {
    switch self {
    case .appleInApp: "apple-in-app"
    case .proximity: "proximity"
    case .list(let list): list.format.rawValue
    }
  }
}
