import Cryptography
import Mdoc
import Presentation
import Base

/// One customer of this server: its sessions, keys and origins are its own.
public struct RelyingParty: Sendable {
  public let id: String
  /// Web origins, `https://host[:port]`, that may hold client secrets and present web requests.
  public let origins: [String]
  public let apiKeys: [APIKey]
  /// Its Apple merchants, each with an identifier of its own; where there is none, `apple-in-app` is not offered to it.
  public let apple: [AppleConfiguration]
  /// Who asks in its name, where requests are signed: the first by default, all of them in a request that is signed
  /// more than once.
  public let readers: [ReaderIdentity]
  public let openID4VP: OpenID4VPConfiguration
  public let policies: Policies
  /// Where it wants to be told of events.
  public let webhooks: [WebhookEndpoint]
  public let quota: Quota

  public init(
    id: String, origins: [String] = [], apiKeys: [APIKey] = [], apple: [AppleConfiguration] = [],
    readers: [ReaderIdentity] = [], openID4VP: OpenID4VPConfiguration = OpenID4VPConfiguration(),
    policies: Policies = Policies(), webhooks: [WebhookEndpoint] = [], quota: Quota = .standard
  ) {
    self.id = id
    self.origins = origins
    self.apiKeys = apiKeys
    self.apple = apple
    self.readers = readers
    self.openID4VP = openID4VP
    self.policies = policies
    self.webhooks = webhooks
    self.quota = quota
  }

  public struct Policies: Sendable, Hashable {
    /// Whether results are kept, sealed; then only elements requested with `intent_to_retain`.
    public var retainsResults: Bool
    public var retention: RetentionPolicy
    /// What must be known about revocation before a document is accepted.
    public var revocation: RevocationPolicy
    /// With which evidence of verified answers is sealed; nil: none is kept.
    public var evidenceKey: EvidenceKey?

    public init(
      retainsResults: Bool = false, retention: RetentionPolicy = RetentionPolicy(),
      revocation: RevocationPolicy = .requireGood, evidenceKey: EvidenceKey? = nil
    ) {
      self.retainsResults = retainsResults
      self.retention = retention
      self.revocation = revocation
      self.evidenceKey = evidenceKey
    }
  }
}

/// For how many days a relying party keeps what it asks for with `intent_to_retain`.
public struct RetentionPolicy: Sendable, Hashable {
  /// Where a request says nothing of days; nil: nothing is said to the wallet either, and the server keeps values for as
  /// long as the session's record.
  public let days: Int?
  /// That a request may say.
  public let longest: Int

  /// - Parameter days: at most `longest`, or `longest` counts.
  public init(days: Int? = nil, longest: Int = Int(Limits.longestRetainDays)) {
    self.days = days.map { min($0, longest) }
    self.longest = longest
  }
}

/// What Apple's in-app requests and their transcript need of a merchant.
public struct AppleConfiguration: Sendable {
  public let merchantID: String
  public let teamID: String
  /// The private keys of the merchant's encryption certificates: the current one and those before it.
  public let encryptionKeys: [PrivateKey]
  /// Of those keys whose certificate is at hand.
  public let certificates: [MerchantCertificate]

  public init(
    merchantID: String, teamID: String, encryptionKeys: [PrivateKey], certificates: [MerchantCertificate] = []
  ) {
    self.merchantID = merchantID
    self.teamID = teamID
    self.encryptionKeys = encryptionKeys
    self.certificates = certificates
  }

  public var merchant: AppleMerchant { AppleMerchant(merchantID: merchantID, teamID: teamID) }
}

/// What a relying party has chosen of OpenID4VP.
public struct OpenID4VPConfiguration: Sendable, Hashable {
  /// Answers are encrypted (`dc_api.jwt`, `direct_post.jwt`) unless this is switched off on purpose.
  public var encryptsResponses: Bool
  /// Whether `openid4vp-iso-18013-7-annex-b`, the older profile of ISO/IEC TS 18013-7:2024, is offered.
  public var offersAnnexB: Bool
  /// The scheme of the address that opens a wallet by redirect or QR code: `openid4vp`, `haip-vp`, `mdoc-openid4vp` …
  public var scheme: String
  /// Key identifiers of the issuing authorities that wallets are told about, so that they offer no other's documents;
  /// none for any. Which issuers are trusted is decided by the trust store alone.
  public var trustedAuthorities: [[UInt8]]

  public init(
    encryptsResponses: Bool = true, offersAnnexB: Bool = false, scheme: String = "openid4vp",
    trustedAuthorities: [[UInt8]] = []
  ) {
    self.encryptsResponses = encryptsResponses
    self.offersAnnexB = offersAnnexB
    self.scheme = scheme
    self.trustedAuthorities = trustedAuthorities
  }
}
