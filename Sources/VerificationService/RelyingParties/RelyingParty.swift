import Cryptography
import Mdoc

/// One customer of this server: its sessions, keys and origins are its own.
public struct RelyingParty: Sendable {
  public let id: String
  /// Web origins, `https://host[:port]`, that may hold client secrets and present web requests.
  public let origins: [String]
  public let apiKeys: [APIKey]
  /// Absent where the relying party has no Apple merchant: `apple-in-app` is then not offered to it.
  public let apple: AppleConfiguration?
  public let policies: Policies

  public init(
    id: String, origins: [String] = [], apiKeys: [APIKey] = [], apple: AppleConfiguration? = nil,
    policies: Policies = Policies()
  ) {
    self.id = id
    self.origins = origins
    self.apiKeys = apiKeys
    self.apple = apple
    self.policies = policies
  }

  public struct Policies: Sendable, Hashable {
    /// Whether results are kept, sealed, for as long as the session; then only elements requested with
    /// `intent_to_retain`.
    public var retainsResults: Bool
    /// What must be known about revocation before a document is accepted.
    public var revocation: RevocationPolicy

    public init(retainsResults: Bool = false, revocation: RevocationPolicy = .requireGood) {
      self.retainsResults = retainsResults
      self.revocation = revocation
    }
  }
}

/// An API key as the configuration holds it: never the key, only its SHA-256.
public struct APIKey: Sendable, Hashable {
  public let sha256: [UInt8]
  public let scopes: Set<Scope>

  public init(sha256: [UInt8], scopes: Set<Scope>) {
    self.sha256 = sha256
    self.scopes = scopes
  }

  /// The hash by which a presented key is looked up.
  public static func hash(of key: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(key.utf8)) }
}

/// What Apple's in-app requests and their transcript need of a merchant.
public struct AppleConfiguration: Sendable {
  public let merchantID: String
  public let teamID: String
  /// The private keys of the merchant's encryption certificates: the current one and those before it.
  public let encryptionKeys: [PrivateKey]

  public init(merchantID: String, teamID: String, encryptionKeys: [PrivateKey]) {
    self.merchantID = merchantID
    self.teamID = teamID
    self.encryptionKeys = encryptionKeys
  }
}
