import Base
import Cryptography
import Mdoc
import Presentation

/// One customer of this server: its sessions, keys and origins are its own.
package struct RelyingParty: Sendable {
  package let id: String
  /// Web origins, `https://host[:port]`, that may hold client secrets and present web requests, and Android apps that
  /// may present them, `android:apk-key-hash:…`.
  package let origins: [String]
  package let apiKeys: [APIKey]
  /// Its Apple merchants, each with an identifier of its own; where there is none, `apple-in-app` is not offered to it.
  package let apple: [AppleConfiguration]
  /// Who asks in its name, where requests are signed: the first by default, all of them in a request that is signed
  /// more than once.
  package let readers: [ReaderIdentity]
  package let openID4VP: OpenID4VPConfiguration
  /// What it is registered to ask for, one for each intended use; empty for a party without EU registration.
  package let registrations: [RegistrationCertificate]
  /// Key identifiers of issuing authorities by document type, which every protocol that can names to wallets.
  package let acceptedIssuers: [String: [[UInt8]]]
  /// The page that this server shows in its name; nil: none.
  package let page: HostedPage?
  package let policies: Policies
  /// Where it wants to be told of events.
  package let webhooks: [WebhookEndpoint]
  package let quota: Quota

  package init(
    id: String, origins: [String] = [], apiKeys: [APIKey] = [], apple: [AppleConfiguration] = [],
    readers: [ReaderIdentity] = [], openID4VP: OpenID4VPConfiguration = OpenID4VPConfiguration(),
    registrations: [RegistrationCertificate] = [], acceptedIssuers: [String: [[UInt8]]] = [:],
    page: HostedPage? = nil, policies: Policies = Policies(),
    webhooks: [WebhookEndpoint] = [], quota: Quota = .standard
  ) {
    self.id = id
    self.origins = origins
    self.apiKeys = apiKeys
    self.apple = apple
    self.readers = readers
    self.openID4VP = openID4VP
    self.registrations = registrations
    self.acceptedIssuers = acceptedIssuers
    self.page = page
    self.policies = policies
    self.webhooks = webhooks
    self.quota = quota
  }

  /// Those that a browser can have.
  package var webOrigins: [String] { origins.filter { !$0.hasPrefix(AndroidOrigin.prefix) } }

  package struct Policies: Sendable, Hashable {
    /// Whether results are kept, sealed; then only elements requested with `intent_to_retain`.
    package var retainsResults: Bool
    package var retention: RetentionPolicy
    /// What must be known about revocation before a document is accepted.
    package var revocation: RevocationPolicy
    /// With which evidence of verified answers is sealed; nil: none is kept.
    package var evidenceKey: EvidenceKey?

    package init(
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
package struct RetentionPolicy: Sendable, Hashable {
  /// The days that hold where a request names none. Nil: the wallet is told no days either, and the server keeps values
  /// for as long as the session's record.
  package let days: Int?
  /// The most days that a request may name.
  package let longest: Int

  /// - Parameter days: at most `longest`, or `longest` counts.
  package init(days: Int? = nil, longest: Int = Int(Limits.longestRetainDays)) {
    self.days = days.map { min($0, longest) }
    self.longest = longest
  }
}

/// What Apple's in-app requests and their transcript need of a merchant.
package struct AppleConfiguration: Sendable {
  package let merchantID: String
  package let teamID: String
  /// The private keys of the merchant's encryption certificates: the current one and those before it.
  package let encryptionKeys: [PrivateKey]
  /// Of those keys whose certificate is at hand.
  package let certificates: [MerchantCertificate]

  package init(
    merchantID: String, teamID: String, encryptionKeys: [PrivateKey], certificates: [MerchantCertificate] = []
  ) {
    self.merchantID = merchantID
    self.teamID = teamID
    self.encryptionKeys = encryptionKeys
    self.certificates = certificates
  }

  package var merchant: AppleMerchant { AppleMerchant(merchantID: merchantID, teamID: teamID) }
}

/// What a relying party has chosen of OpenID4VP.
package struct OpenID4VPConfiguration: Sendable, Hashable {
  /// Answers are encrypted (`dc_api.jwt`, `direct_post.jwt`) unless this is switched off on purpose.
  package var encryptsResponses: Bool
  /// Whether `openid4vp-iso-18013-7-annex-b`, the older profile of ISO/IEC TS 18013-7:2024, is offered.
  package var offersAnnexB: Bool
  /// The scheme of the address that opens a wallet by redirect or QR code: `openid4vp`, `haip-vp`, `mdoc-openid4vp` …
  package var scheme: String
  /// Document types that may be asked for by the European age verification profile's link; none: it is not offered.
  package var ageVerificationDocTypes: [String]
  /// Whether devices may authenticate by MAC.
  package var acceptsMACs: Bool
  /// Whether a wallet is told that its response was refused; nil: in staging and test mode, where it is told why.
  package var walletFeedback: Bool?
  /// Where wallets send people after a session that names neither `redirect_uri` nor `return_url` (HAIP 1.0, 5.1).
  package var redirectURI: String?
  /// Schemes of the relying party's own apps, to which a wallet may bring the person back.
  package var redirectSchemes: [String] = []
  /// Origins of wallets that are web pages; `*` means any.
  package var walletOrigins: [String] = []

  package init(
    encryptsResponses: Bool = true, offersAnnexB: Bool = false, scheme: String = "openid4vp",
    ageVerificationDocTypes: [String] = [], acceptsMACs: Bool = true, redirectURI: String? = nil
  ) {
    self.encryptsResponses = encryptsResponses
    self.offersAnnexB = offersAnnexB
    self.scheme = scheme
    self.ageVerificationDocTypes = ageVerificationDocTypes
    self.acceptsMACs = acceptsMACs
    self.redirectURI = redirectURI
  }
}

/// The origin of an Android app, as Android tells it to wallets (OpenID4VP 1.0, A.2; Credential Manager).
package enum AndroidOrigin {
  package static let prefix = "android:apk-key-hash:"

  /// Whether after the prefix comes the SHA-256 of a signing certificate in base64url, in its one canonical form.
  package static func isValid(_ origin: String) -> Bool {
    origin.hasPrefix(prefix) && Base64.decodeURLSafe(String(origin.dropFirst(prefix.count)))?.count == 32
  }
}

/// All relying parties of this server, by id and by API key.
package struct RelyingParties: Sendable {
  package let all: [RelyingParty]
  private let byID: [String: RelyingParty]
  private let byKey: [[UInt8]: (RelyingParty, APIKey)]

  /// Refuses what would let one relying party act as another: an id or a key hash that occurs twice.
  package init(_ parties: [RelyingParty]) throws(ConfigurationError) {
    var byID: [String: RelyingParty] = [:]
    var byKey: [[UInt8]: (RelyingParty, APIKey)] = [:]
    for party in parties {
      guard !party.id.isEmpty, byID.updateValue(party, forKey: party.id) == nil else {
        throw ConfigurationError("the relying party id \"\(party.id)\" is empty or there twice")
      }
      for key in party.apiKeys {
        guard key.sha256.count == 32 else {
          throw ConfigurationError("an API key of \"\(party.id)\" is not the SHA-256 of a key")
        }
        guard byKey.updateValue((party, key), forKey: key.sha256) == nil else {
          throw ConfigurationError("an API key of \"\(party.id)\" occurs twice")
        }
      }
    }
    all = parties
    self.byID = byID
    self.byKey = byKey
  }

  package subscript(id: String) -> RelyingParty? { byID[id] }

  /// The owner of an API key that has not expired. The look-up is by the key's hash: its time tells nothing that helps
  /// to find a key.
  package func owner(ofKey key: String, at now: Timestamp) -> Caller? {
    owner(ofKeyHash: APIKey.hash(of: key), at: now)
  }

  package func owner(ofKeyHash hash: [UInt8], at now: Timestamp) -> Caller? {
    guard let (party, found) = byKey[hash], found.isGood(at: now) else { return nil }
    return .apiKey(party, scopes: found.scopes, id: found.id)
  }

  /// When the next of the keys that are good now expires.
  package func nextKeyExpiry(after now: Timestamp) -> Timestamp? {
    all.flatMap(\.apiKeys).compactMap(\.expiresAt).filter { now < $0 }.min()
  }
}

/// The configuration cannot be served; the message names the member, never a secret.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
