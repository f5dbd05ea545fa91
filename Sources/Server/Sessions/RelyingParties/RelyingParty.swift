import Base
import Cryptography
import Mdoc
import Presentation

/// A customer of this server, with its own sessions, keys and origins.
package final class RelyingParty: Sendable {
  package let id: String
  /// Web origins (`https://host[:port]`) and origins of Android apps (`android:apk-key-hash:…`).
  package let origins: [String]
  package let apiKeys: [APIKey]
  /// The relying party's Apple merchants, with unique identifiers. Without a merchant, `apple-in-app` is not offered.
  package let apple: [AppleConfiguration]
  /// The signers of the relying party's requests. By default, the first reader signs. All readers sign a multi-signed
  /// request.
  package let readers: [ReaderIdentity]
  package let openID4VP: OpenID4VPConfiguration
  /// The relying party's EU registrations: one for each intended use.
  package let registrations: [RegistrationCertificate]
  /// Key identifiers of issuing authorities, by document type. Requests contain them as hints for wallets.
  package let acceptedIssuers: [String: [[UInt8]]]
  package let page: HostedPage?
  package let policies: Policies
  package let webhooks: [WebhookEndpoint]
  package let quota: Quota
  /// Named requests, for use in sessions.
  package let templates: [String: RequestTemplate]

  package init(
    id: String, origins: [String] = [], apiKeys: [APIKey] = [], apple: [AppleConfiguration] = [],
    readers: [ReaderIdentity] = [], openID4VP: OpenID4VPConfiguration = OpenID4VPConfiguration(),
    registrations: [RegistrationCertificate] = [], acceptedIssuers: [String: [[UInt8]]] = [:], page: HostedPage? = nil,
    policies: Policies = Policies(), webhooks: [WebhookEndpoint] = [], quota: Quota = .standard,
    templates: [String: RequestTemplate] = [:]
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
    self.templates = templates
  }

  /// The origins of web pages, without those of Android apps.
  package var webOrigins: [String] { origins.filter { !$0.hasPrefix(AndroidOrigin.prefix) } }

  package struct Policies: Sendable, Hashable {
    /// Stores sealed results, with only the elements requested with `intent_to_retain`.
    package var retainsResults: Bool
    package var retention: RetentionPolicy
    package var revocation: RevocationPolicy
    /// The key that seals the evidence of verified responses; nil if no evidence is stored.
    package var evidenceKey: EvidenceKey?
    /// Whether events include a session's `metadata`, which may be personal.
    package var eventsHaveMetadata: Bool

    package init(
      retainsResults: Bool = false, retention: RetentionPolicy = RetentionPolicy(),
      revocation: RevocationPolicy = .requireGood, evidenceKey: EvidenceKey? = nil,
      eventsHaveMetadata: Bool = false
    ) {
      self.retainsResults = retainsResults
      self.retention = retention
      self.revocation = revocation
      self.evidenceKey = evidenceKey
      self.eventsHaveMetadata = eventsHaveMetadata
    }
  }
}

/// The days for which a relying party keeps elements requested with `intent_to_retain`.
package struct RetentionPolicy: Sendable, Hashable {
  /// The default number of days, for requests that state none. If nil, such requests state no retention period to the
  /// wallet, and values are stored as long as the session's record.
  package let days: Int?
  /// The maximum number of days that a request may state.
  package let longest: Int

  /// - Parameter days: capped at `longest`.
  package init(days: Int? = nil, longest: Int = Int(Limits.longestRetainDays)) {
    self.days = days.map { min($0, longest) }
    self.longest = longest
  }
}

package struct AppleConfiguration: Sendable {
  package let merchantID: String
  package let teamID: String
  /// The private keys of the merchant's encryption certificates, the current one first.
  package let encryptionKeys: [PrivateKey]
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

package struct OpenID4VPConfiguration: Sendable, Hashable {
  /// Encrypts responses (`dc_api.jwt`, `direct_post.jwt`).
  package var encryptsResponses: Bool
  /// Offers `openid4vp-iso-18013-7-annex-b`, the older profile of ISO/IEC TS 18013-7:2024.
  package var offersAnnexB: Bool
  /// The scheme of the link that opens a wallet: `openid4vp`, `haip-vp`, `mdoc-openid4vp` …
  package var scheme: String
  /// Document types for the link of the European age verification profile. If there are none, the link is not offered.
  package var ageVerificationDocTypes: [String]
  /// Lets devices authenticate by MAC.
  package var acceptsMACs: Bool
  /// True to tell a wallet that its response was rejected. If nil, wallets are told only in staging and test mode, with
  /// the reason.
  package var walletFeedback: Bool?
  /// The address to which wallets send people after a session without `redirect_uri` and `return_url` (HAIP 1.0, 5.1).
  package var redirectURI: String?
  /// Schemes of the relying party's own apps, to which a wallet may return.
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

/// The origin of an Android app, as Android reports it to wallets (OpenID4VP 1.0, A.2; Credential Manager).
package enum AndroidOrigin {
  package static let prefix = "android:apk-key-hash:"

  /// True if the SHA-256 of a signing certificate follows the prefix, in canonical base64url.
  package static func isValid(_ origin: String) -> Bool {
    origin.hasPrefix(prefix) && Base64.decodeURLSafe(String(origin.dropFirst(prefix.count)))?.count == 32
  }
}

package struct RelyingParties: Sendable {
  package let all: [RelyingParty]
  private let byID: [String: RelyingParty]
  private let byKey: [[UInt8]: (RelyingParty, APIKey)]

  /// Refuses duplicate ids and key hashes, so that no relying party can act as another.
  package init(_ parties: [RelyingParty]) throws(ConfigurationError) {
    var byID: [String: RelyingParty] = [:]
    var byKey: [[UInt8]: (RelyingParty, APIKey)] = [:]
    for party in parties {
      guard !party.id.isEmpty, byID.updateValue(party, forKey: party.id) == nil else {
        throw ConfigurationError("the relying party id \"\(party.id)\" is empty or a duplicate")
      }
      for key in party.apiKeys {
        guard key.sha256.count == 32 else {
          throw ConfigurationError("an API key of \"\(party.id)\" is not the SHA-256 of a key")
        }
        if let (other, _) = byKey.updateValue((party, key), forKey: key.sha256) {
          throw ConfigurationError("an API key of \"\(party.id)\" is also a key of \"\(other.id)\"")
        }
      }
    }
    all = parties
    self.byID = byID
    self.byKey = byKey
  }

  package subscript(id: String) -> RelyingParty? { byID[id] }

  /// The owner of an API key that has not expired. The key is looked up by its hash, so that the look-up time reveals
  /// nothing about the key.
  package func owner(ofKey key: String, at now: Timestamp) -> Caller? {
    owner(ofKeyHash: APIKey.hash(of: key), at: now)
  }

  package func owner(ofKeyHash hash: [UInt8], at now: Timestamp) -> Caller? {
    guard let (party, found) = byKey[hash], found.isGood(at: now) else { return nil }
    return .apiKey(party, scopes: found.scopes, id: found.id)
  }

  /// The earliest expiry of the keys that are valid now.
  package func nextKeyExpiry(after now: Timestamp) -> Timestamp? {
    all.flatMap(\.apiKeys).compactMap(\.expiresAt).filter { now < $0 }.min()
  }
}

/// The reason why a configuration is refused. The message identifies the member, and never contains a secret.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}

package struct HostedPage: Sendable, Hashable {
  package static let longestName = 80
  package static let colorPattern = "^#[0-9a-f]{6}$"

  package static func isName(_ text: String) -> Bool { (1...longestName).contains(text.count) }
  package static func isColor(_ text: String) -> Bool { text.wholeMatch(of: /#[0-9a-f]{6}/) != nil }

  package let name: String
  /// The colour of buttons and links, `#rrggbb`; nil for the page's default.
  package let color: String?
  package let logo: Logo?
  /// The logo for dark backgrounds; nil to use `logo`.
  package let darkLogo: Logo?
  package let privacyURL: String?
  /// Whether the page shows why a document was rejected, if the reason reveals nothing about the person.
  package let showsReason: Bool

  package init(
    name: String, color: String? = nil, logo: Logo? = nil, darkLogo: Logo? = nil, privacyURL: String? = nil,
    showsReason: Bool = false
  ) {
    self.name = name
    self.color = color
    self.logo = logo
    self.darkLogo = darkLogo
    self.privacyURL = privacyURL
    self.showsReason = showsReason
  }

  package struct Logo: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]

    package init(mediaType: String, bytes: [UInt8]) {
      self.mediaType = mediaType
      self.bytes = bytes
    }
  }
}

package struct HostedPageOptions: Sendable, Hashable {
  /// The purpose of the request, in the relying party's words.
  package let purpose: String?
  /// The purpose by language.
  package let translations: [NamedText]
  /// The address to which the page finally sends the person. It must be at one of the relying party's origins.
  package let returnURL: String?

  /// `returnURL` with the session's id in its query. The page appends the response code.
  func returnAddress(for id: SessionID) -> String? {
    returnURL.map { $0 + ($0.contains("?") ? "&" : "?") + "session=" + id.text }
  }
}

package struct PageAddress: Sendable, Hashable {
  /// The page's address, without the client secret.
  package let text: String

  init(publicURL: String, session: SessionAddress) {
    // Identifiers of relying parties and sessions need no escaping.
    text = "\(publicURL)/verify/\(session.relyingParty)/\(session.id.text)"
  }

  /// Adds the client secret in the fragment, which browsers do not send.
  func unlocked(by secret: ClientSecret) -> String { text + "#" + secret.text }
}

extension VerificationService {
  /// Finds the holder of a bearer token: an API key or a client secret. Both are looked up by their SHA-256, so that
  /// the time of the look-up reveals nothing about the token.
  /// - Throws: `api.unauthenticated`, or `api.store_unavailable`.
  package func authenticate(bearer token: String) async throws(ServiceError) -> Caller {
    if let caller = relyingParties.owner(ofKey: token, at: clock()) { return caller }
    guard let secret = ClientSecret(token) else { throw ServiceError(.apiUnauthenticated) }
    let record = try await stored { store throws(StoreError) in
      try await store.session(secret.session, clientSecretHash: secret.sha256)
    }
    // The secret remains valid for ten minutes after the session expires. In this time, the page can still read the
    // session's outcome.
    guard let record, clock() < record.expiresAt + Limits.resultLifetime,
      let party = relyingParties[record.address.relyingParty]
    else { throw ServiceError(.apiUnauthenticated) }
    return .clientSecret(record.address.id, of: party)
  }
}

package enum Caller: Sendable {
  /// - Parameter id: the key's name in logs.
  case apiKey(RelyingParty, scopes: Set<Scope>, id: String? = nil)
  /// The holder of a session's client secret. It may submit to, cancel and GET that session, but gets no personal data.
  case clientSecret(SessionID, of: RelyingParty)
  /// A wallet that posts its response itself. It learns nothing about the result.
  case wallet(SessionID, of: RelyingParty)

  package var relyingParty: RelyingParty {
    switch self {
    case .apiKey(let party, _, _): party
    case .clientSecret(_, let party), .wallet(_, let party): party
    }
  }

  /// The API key's name in logs, if it has one.
  package var keyID: String? { if case .apiKey(_, _, let id) = self { id } else { nil } }

  package func has(_ scope: Scope) -> Bool {
    if case .apiKey(_, let scopes, _) = self { scopes.contains(scope) } else { false }
  }

  /// Throws `api.forbidden` unless the caller is an API key with one of these scopes.
  package func require(_ scopes: [Scope]) throws(ServiceError) {
    guard scopes.contains(where: has) else {
      let names = scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      throw ServiceError(.apiForbidden, "This needs an API key with the scope \(names).")
    }
  }

  /// The address of the session with this `id`. Client secrets and wallets know only their own session.
  func address(of id: String) throws(ServiceError) -> SessionAddress {
    guard let session = SessionID(id) else { throw .sessionNotFound }
    switch self {
    case .clientSecret(let own, _), .wallet(let own, _): guard own == session else { throw .sessionNotFound }
    case .apiKey: break
    }
    return SessionAddress(relyingParty: relyingParty.id, id: session)
  }
}

/// The SHA-256 of an API key. To rotate a key, add the new key and set an expiry for the old key.
package struct APIKey: Sendable, Hashable {
  package let sha256: [UInt8]
  package let scopes: Set<Scope>
  package let id: String?
  /// The key's expiry; nil if the key never expires. An expired key is refused like an unknown key.
  package let expiresAt: Timestamp?

  package init(sha256: [UInt8], scopes: Set<Scope>, id: String? = nil, expiresAt: Timestamp? = nil) {
    self.sha256 = sha256
    self.scopes = scopes
    self.id = id
    self.expiresAt = expiresAt
  }

  package static func hash(of key: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(key.utf8)) }

  package func isGood(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}

/// The rights of an API key (HTTP API, Authentication).
package enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Create, submit, cancel and redact sessions.
  case sessionsWrite = "sessions:write"
  /// Read verified element values.
  case resultsRead = "results:read"
  /// Verify responses that another stack received, and read their element values.
  case verificationsWrite = "verifications:write"
  /// Read the trust anchors in force.
  case trustRead = "trust:read"
  /// Administer one relying party: read its audit entries, its figures on `/status`, and the server's metrics.
  case admin
  /// Operate the server: reload trust and configuration, and read the figures of all relying parties.
  case operate = "server:operate"
  /// Read the audit entries of all relying parties, and the heads of their chains.
  case auditReadAll = "audit:read_all"
}
