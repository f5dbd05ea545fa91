import Base
import Mdoc
import PKIX
import Sessions

/// Defines every object of the configuration file. The file is read by these definitions, and `mdoc serve
/// --config-schema` prints them. A new member needs one line here, and its reading in the code that reads its object.
///
/// The schema holds all rules that need no other file. `mdoc serve --check-config` checks the others.
package enum ConfigurationSchema {
  package static let json: JSON = [
    "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mdoc serve --config",
    "$ref": .string("#/$defs/\(root.name)"),
    "$defs": .object(definitions.members.map { JSON.Member($0.name, $0.schema.json) }),
  ]

  static let definitions = Schema.Definitions([
    root, tls, limits, anchorFiles, vical, trustedEntities, sealingKey, relyingParty, variable, secretFile, rate,
    apiKey,
    apple, reader, openID4VP, page, evidence, webhook, quota, merchantVariable, merchantFile, encryptedVariable,
    encryptedFile, webhookAllow,
  ])

  private struct Entry {
    let name: String
    let schema: Schema
    let isRequired: Bool
    /// Whether a new value takes effect only when the server is started again.
    let needsRestart: Bool

    init(
      _ name: String, _ schema: Schema, _ summary: String, isRequired: Bool = false, needsRestart: Bool = false
    ) {
      self.name = name
      self.schema = schema.described(summary + (needsRestart ? " A new value needs a restart." : ""))
      self.isRequired = isRequired
      self.needsRestart = needsRestart
    }
  }

  private static func table(_ name: String, _ entries: [Entry]) -> Schema.Member {
    let members = entries.map { Schema.Member($0.name, $0.schema) }
    return Schema.Member(name, .object(members, required: entries.filter(\.isRequired).map(\.name)))
  }

  private static func reference(_ table: Schema.Member) -> Schema { ["$ref": .string("#/$defs/\(table.name)")] }

  static let root = table("configuration", rootEntries)

  /// The members whose new values a running server does not take.
  static let fixedMembers = rootEntries.filter(\.needsRestart).map(\.name)

  private static let rootEntries = [
    Entry("$schema", .filledText(), "The schema that an editor holds the file against; the server does not read it."),
    Entry(
      "mode", .oneOf([ServerMode.live, .staging].map(\.rawValue), default: ServerMode.live.rawValue),
      "What its verdicts are worth: `staging` also trusts anchors of the tier `test`, and no reply of it says "
        + "`livemode`.", needsRestart: true),
    Entry(
      "listen", .filledText(default: ListenAddress.standard), "Numeric address and port.", needsRestart: true),
    Entry(
      "behind_proxy", .flag(default: false), "A TLS proxy stands in front: required for anything but loopback.",
      needsRestart: true),
    Entry("tls", reference(tls), "Certificate and key for TLS without a proxy.", needsRestart: true),
    Entry("limits", reference(limits), "How much callers may ask and hold."),
    Entry(
      "trusted_proxies", .list(of: .filledText(), atLeast: 0),
      "Addresses and networks of proxies, beside loopback, whose word on a client's address counts.",
      needsRestart: true),
    Entry(
      "proxy_header",
      .oneOf(ProxyRule.Header.allCases.map(\.rawValue), default: ProxyRule.Header.allCases.first?.rawValue),
      "Where proxies say it.", needsRestart: true),
    Entry(
      "public_url", .filledText(like: "^https?://[a-z0-9.-]+(:[0-9]+)?$"),
      "Where wallets reach the server; without it `openid4vp` is not offered."),
    Entry(
      "reader_crl", .filledText(),
      "Revocation list (DER) of the authority that certified the readers, served as `/reader.crl`."),
    Entry(
      "store", .filledText(like: "^(sqlite:.|postgres(ql)?://)"), "`sqlite:` and a path, or a `postgresql://` URL.",
      isRequired: true, needsRestart: true),
    Entry(
      "node", .filledText(like: "^[a-z0-9.-]{1,63}$"), "This server's name in audit entries; by default the host's.",
      needsRestart: true),
    Entry(
      "trust",
      .list(
        of: .anyOf([.filledText(), reference(anchorFiles), reference(vical), reference(trustedEntities)]), atLeast: 1),
      "Files and folders of trust anchors, and published lists to follow.", isRequired: true),
    Entry(
      "trust_state", .filledText(default: "trust-state"), "Folder of the last accepted lists."),
    Entry(
      "trust_refresh", .number(60...86_400, default: 3_600),
      "Seconds between loads of published lists."),
    Entry(
      "circuits", .filledText(),
      "Folder of the circuits of zero-knowledge proofs; without it no proof can be asked for."),
    Entry(
      "zk_end_of_day", .flag(default: false),
      "Whether a proof may be stamped with any later time of the current day in UTC, as Google Wallet stamps them."),
    Entry(
      "clock_skew", .number(0...Limits.longestClockSkew, default: Limits.clockSkew),
      "Seconds by which clocks may differ."),
    Entry(
      "stop_notice", .number(0...300, default: StopTimes.standard.notice),
      "Seconds for which `/readyz` says 503 before a stop begins.", needsRestart: true),
    Entry(
      "stop_drain", .number(1...300, default: StopTimes.standard.drain),
      "Seconds that requests under way have to finish when the server stops.", needsRestart: true),
    Entry(
      "sealing_keys", .list(of: reference(sealingKey), atLeast: 1),
      "Keys for data at rest: the first seals, all open.", isRequired: true),
    Entry(
      "registrars", .list(of: .filledText(), atLeast: 0),
      "Certificates of those who issue registration certificates; others are warned of."),
    Entry(
      "relying_parties", .list(of: reference(relyingParty), atLeast: 1), "Who may use the server.", isRequired: true),
  ]

  // MARK: The edge

  static let tls = table(
    "tls",
    [
      Entry("certificate", .filledText(), "Chain in PEM, the leaf first.", isRequired: true),
      Entry("key", secret, "Its private key in PEM, not encrypted.", isRequired: true),
    ])

  static let limits = table(
    "limits",
    [
      Entry("per_key", limit, "Requests by one API key."),
      Entry("per_session", limit, "Requests for one session without an API key."),
      Entry("per_address", limit, "Requests without an API key from one IPv4 address, or IPv6 /64."),
      Entry("connections", .number(1...1_000_000), "Connections at one time."),
      Entry(
        "connections_per_address", .number(0...1_000_000),
        "Connections of one address at one time; 0 for any number."),
      Entry(
        "concurrent_requests", .number(1...100_000),
        "Requests that are handled at one time."),
    ])

  static let rate = table(
    "rate",
    [
      Entry("rate", .number(1...EdgeConfiguration.highestRate), "Requests a second.", isRequired: true),
      Entry("burst", .number(1...EdgeConfiguration.highestRate), "Requests at once; twice the rate by default."),
    ])

  /// A rate; `false` means no limit.
  private static let limit = Schema.anyOf([reference(rate), .flag(default: false)])

  // MARK: Secrets

  /// The name of a file, or an object that names a file or a variable.
  private static let secret = Schema.anyOf([
    .filledText(), reference(variable), reference(secretFile),
  ])
  private static let privateKey = Schema.anyOf([
    .filledText(), reference(encryptedVariable), reference(encryptedFile),
  ])
  private static let variableName = Entry(
    "env", .filledText(like: "^[A-Za-z_][A-Za-z0-9_]*$"), "The environment variable that holds it.", isRequired: true)
  private static let fileName = Entry("file", .filledText(), "The file that holds it.", isRequired: true)
  private static let passphrase = Entry(
    "passphrase", secret, "With which the private key is encrypted (PKCS #8).")

  static let variable = table("secret_variable", [variableName])
  static let secretFile = table("secret_file", [fileName])
  static let encryptedVariable = table("private_key_variable", [variableName, passphrase])
  static let encryptedFile = table("private_key_file", [fileName, passphrase])

  private static let merchantCertificate = Entry(
    "certificate", .filledText(), "Apple's certificate of this key, PEM or DER: its end is watched.")
  static let merchantVariable = table("merchant_key_variable", [variableName, passphrase, merchantCertificate])
  static let merchantFile = table("merchant_key_file", [fileName, passphrase, merchantCertificate])

  static let sealingKey = table(
    "sealing_key",
    [
      Entry("id", .filledText(), "1 to 64 bytes by which sealed data name their key.", isRequired: true),
      Entry("file", secret, "32 bytes, raw or as hexadecimal or base64 text.", isRequired: true),
    ])

  // MARK: Relying parties

  static let relyingParty = table(
    "relying_party",
    [
      Entry(
        "id", .filledText(like: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"), "Its name in logs and addresses.",
        isRequired: true),
      Entry(
        "origins", .list(of: .filledText(), atLeast: 0), "Web origins and Android apps that may ask and be answered."),
      Entry("api_keys", .list(of: reference(apiKey), atLeast: 0), "Keys of its backends, by their hashes."),
      Entry(
        "apple", .anyOf([reference(apple), .list(of: reference(apple), atLeast: 1)]),
        "What Apple's in-app requests need of a merchant, or of each of several."),
      Entry("readers", .list(of: reference(reader), atLeast: 0), "Who signs its requests."),
      Entry("openid4vp", reference(openID4VP), "What it has chosen of OpenID4VP."),
      Entry(
        "registration_certificates", .list(of: .filledText(), atLeast: 0),
        "Its EU registration certificates (WRPRC), JWS or CWT: one file for each intended use."),
      Entry(
        "accepted_issuers",
        .map(of: .list(of: .filledText(like: "^([0-9A-Fa-f]{2}){1,64}$"), ConfiguredParties.acceptedIssuers))
          .with("minProperties", 1),
        "By document type, subject key identifiers of the authorities whose documents wallets are to offer."),
      Entry("page", reference(page), "That its sessions have a page on this server, and how it looks."),
      Entry(
        "revocation",
        .oneOf(RevocationPolicy.allCases.map(\.rawValue), default: RevocationPolicy.requireGood.rawValue),
        "What must be known about revocation before a document is accepted."),
      Entry(
        "retain_results", .flag(default: false),
        "Whether elements requested with intent_to_retain are kept, sealed, until their day."),
      Entry(
        "retain_days", .number(Limits.retainDays),
        "Days that they are kept where a request does not say; by default as long as their session, 30."),
      Entry(
        "longest_retain_days", .number(Limits.retainDays, default: Limits.longestRetainDays),
        "Days that a request may say."),
      Entry("evidence", reference(evidence), "That evidence of its verified sessions is kept, sealed."),
      Entry("webhooks", .list(of: reference(webhook), atLeast: 0), "Where it is told of events."),
      Entry("quota", reference(quota), "How much of the store it may have."),
    ])

  static let quota = table(
    "quota",
    [
      Entry("open_sessions", bound(Limits.openSessions), "Sessions that wait for their answer."),
      Entry("bytes", bound(Limits.storedBytes), "Bytes of its sessions with all that is kept of them."),
      Entry(
        "idempotency_bytes", bound(Limits.idempotencyBytes), "Bytes of replies that are kept under idempotency keys."),
    ])

  /// A bound; `false` means none.
  private static func bound(_ fallback: Int64) -> Schema {
    .anyOf([.number(1...(1 << 50), default: fallback), .flag(default: false)])
  }

  static let evidence = table(
    "evidence",
    [
      Entry(
        "key", secret, "32 bytes, raw or as hexadecimal or base64 text: seals bundles, and opens them elsewhere.",
        isRequired: true)
    ])

  static let webhook = table(
    "webhook",
    [
      Entry(
        "id", .filledText(like: "^[A-Za-z0-9._-]{1,\(Limits.webhookIDCharacters)}$"), "Its name in logs.",
        isRequired: true),
      Entry("url", .filledText(like: "^https://"), "Where events are posted.", isRequired: true),
      Entry(
        "secrets", .list(of: secret, atLeast: 1), "`whsec_` and the base64 of 24 to 64 bytes; each of them signs.",
        isRequired: true),
      Entry(
        "events", .list(of: .oneOf(EventType.allCases.map(\.rawValue)), atLeast: 1),
        "Which events; all without it."),
      Entry("allow", reference(webhookAllow), "Where it may be reached beside public hosts on port 443."),
    ])

  static let webhookAllow = table(
    "webhook_allow",
    [
      Entry("hosts", .list(of: .filledText(), atLeast: 0), "Hosts of the URL that may be in a private network."),
      Entry("ports", .list(of: .number(1...65_535), atLeast: 0), "Ports beside 443."),
      Entry(
        "networks", .list(of: .filledText(), atLeast: 0),
        "Networks that may be reached; this machine's and link-local ones only by a network that has nothing else."),
    ])

  static let apiKey = table(
    "api_key",
    [
      Entry("sha256", .filledText(like: "^[0-9A-Fa-f]{64}$"), "SHA-256 of the key's text.", isRequired: true),
      Entry(
        "scopes", .list(of: .oneOf(Scope.allCases.map(\.rawValue)), atLeast: 1), "What it may do.",
        isRequired: true),
      Entry("id", .filledText(like: "^[A-Za-z0-9._-]{1,64}$"), "What logs call it."),
      Entry(
        "expires_at", .number(0...253_402_300_799),
        "Unix seconds from which it is answered like an unknown key."),
    ])

  static let apple = table(
    "apple",
    [
      Entry("merchant_id", .filledText(), "As in the app's entitlements.", isRequired: true),
      Entry("team_id", .filledText(), "As in the app's entitlements.", isRequired: true),
      Entry(
        "encryption_keys",
        .list(of: .anyOf([.filledText(), reference(merchantVariable), reference(merchantFile)]), atLeast: 1),
        "P-256 private keys in PEM, current and former.", isRequired: true),
    ])

  static let reader = table(
    "reader",
    [
      Entry("key", privateKey, "Private key in PEM.", isRequired: true),
      Entry("certificates", .filledText(), "Chain in PEM, the leaf first.", isRequired: true),
      Entry(
        "client_id", .filledText(like: "^(x509_hash|x509_san_dns:.+)$", default: "x509_hash"),
        "How wallets are told its name."),
      Entry(
        "google_wallet_metadata", .filledText(like: "^[A-Za-z0-9_-]+$"),
        "`gw_rp_metadata_bytes` as Google or a registrar sent it; goes out in signed requests over the Digital "
          + "Credentials API."),
    ])

  static let page = table(
    "page",
    [
      Entry("name", .filledText(), "What people know the relying party by.", isRequired: true),
      Entry("color", .filledText(like: HostedPage.colorPattern), "Of buttons, as #rrggbb in lower case."),
      Entry("logo", .filledText(), "An SVG, PNG, WebP or JPEG of at most 100 kB."),
      Entry("privacy_url", .filledText(like: "^https://"), "Where people read what becomes of their data."),
    ])

  static let openID4VP = table(
    "openid4vp",
    [
      Entry("encrypted_responses", .flag(default: true), "Whether wallets encrypt their answers."),
      Entry("annex_b", .flag(default: false), "Whether ISO/IEC TS 18013-7:2024, Annex B, is offered as well."),
      Entry(
        "scheme", .filledText(like: "^[a-z][a-z0-9+.-]{0,63}$", default: "openid4vp"),
        "Scheme of the address for wallets."),
      Entry(
        "eu_age_verification", .list(of: .filledText(), atLeast: 0),
        "Document types that may be asked for by the European age verification profile's link, which nobody signs."),
      Entry("device_mac", .flag(default: true), "Whether devices may authenticate by MAC."),
      Entry(
        "wallet_feedback", .flag,
        "Whether wallets are told of a refused response, in live mode without the reason; by default outside live mode."
      ),
      Entry(
        "redirect_uri", .filledText(),
        "Where wallets send people after a session that names neither `redirect_uri` nor `return_url`."),
      Entry(
        "redirect_schemes", .list(of: .filledText(like: "^[a-z][a-z0-9+-]*(\\.[a-z0-9+-]+)+$"), atLeast: 0),
        "Schemes of its own apps, to which `redirect_uri` may lead."),
      Entry(
        "wallet_origins", .list(of: .filledText(), atLeast: 0),
        "Origins of wallets that are web pages; `*` means any."),
    ])

  // MARK: Trust

  private static let crlAddresses = Schema.oneOf(
    CRLAddresses.allCases.map(\.rawValue), default: CRLAddresses.named.rawValue)
  private static let crlAddressesHelp =
    "Where revocation lists may be asked for: as certificates name them, or over HTTPS on its own port alone."

  static let anchorFiles = table(
    "anchor_files",
    [
      Entry("files", .filledText(), "A file or folder of trust anchors.", isRequired: true),
      Entry("crl_addresses", crlAddresses, crlAddressesHelp),
    ])

  private static let listEntries: [Entry] = [
    Entry("name", .filledText(like: "^[a-z0-9_-]{1,64}$"), "By which its last state is remembered.", isRequired: true),
    Entry(
      "signer_anchors", .list(of: .filledText(), atLeast: 1),
      "Certificates that the list's signer must lead to, or be.",
      isRequired: true),
    Entry(
      "ekus", .list(of: .filledText(), atLeast: 1), "Extended key usages of which a document signer must have one."),
    Entry(
      "max_path_length", .number(0...8, default: 0), "Certificates between a listed authority and a document signer."),
    Entry("crl_addresses", crlAddresses, crlAddressesHelp),
    Entry(
      "crl_exceptions", .map(of: .oneOf(CRLAddresses.allCases.map(\.rawValue))).with("minProperties", 1),
      "The same for single authorities, by the SHA-256 of their certificates."),
    Entry(
      "jwt_status_lists", .flag(default: false),
      "Whether status lists of their documents may also be JSON Web Tokens."),
  ]

  static let vical = table(
    "vical",
    [Entry("vical", .filledText(), "Where the list is: an https address or a path.", isRequired: true)]
      + listEntries)

  static let trustedEntities = table(
    "trusted_entities",
    [
      Entry("trusted_entities", .filledText(), "Where the list is: an https address or a path.", isRequired: true),
      Entry(
        "services", .map(of: .list(of: .filledText(), atLeast: 1)).with("minProperties", 1),
        "Service types, each with its document types.",
        isRequired: true),
      Entry("status_services", .list(of: .filledText(), atLeast: 0), "Types of services that sign status lists."),
    ] + listEntries)
}
