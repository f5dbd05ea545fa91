import Base
import Mdoc
import PKIX
import Sessions

/// The members of one object of the configuration: what its reader knows, and what the schema says of it.
///
/// Both are made from these tables, and a test walks the schema and the reader side by side, so that neither says what
/// the other does not.
struct ConfigurationTable: Sendable {
  /// What the schema calls the object.
  let name: String
  let members: [Member]

  /// The names that a reader knows.
  var names: [String] { members.map(\.name) }

  struct Member: Sendable {
    let name: String
    let kind: Kind
    let summary: String
    let isRequired: Bool
    /// Whether a running server takes a new value only by a new start.
    let needsRestart: Bool

    init(
      _ name: String, _ kind: Kind, _ summary: String, isRequired: Bool = false, needsRestart: Bool = false
    ) {
      self.name = name
      self.kind = kind
      self.summary = summary
      self.isRequired = isRequired
      self.needsRestart = needsRestart
    }
  }

  /// What a member's value may be.
  indirect enum Kind: Sendable {
    /// Not empty; of a form (a regular expression, ECMA-262), where one is given.
    case text(String? = nil, default: String? = nil)
    case flag(default: Bool)
    /// `default` is nil for a member without which something is off.
    case integer(ClosedRange<Int64>, default: Int64?)
    case choice([String], default: String?)
    case object(ConfigurationTable)
    case list(of: Kind, least: Int)
    /// An object whose members are named by people, at least one.
    case map(of: Kind)
    case either([Kind])
  }
}

/// Every object of the configuration file. A new member is one line here and its reading where its object is read.
enum ConfigurationTables {
  private typealias Member = ConfigurationTable.Member

  static let root = ConfigurationTable(
    name: "configuration",
    members: [
      Member("$schema", .text(), "The schema that an editor holds the file against; the server does not read it."),
      Member(
        "listen", .text(default: ListenAddress.standard), "Numeric address and port.", needsRestart: true),
      Member(
        "behind_proxy", .flag(default: false), "A TLS proxy stands in front: required for anything but loopback.",
        needsRestart: true),
      Member("tls", .object(tls), "Certificate and key for TLS without a proxy.", needsRestart: true),
      Member("limits", .object(limits), "How much callers may ask and hold."),
      Member(
        "trusted_proxies", .list(of: .text(), least: 0),
        "Addresses and networks of proxies, beside loopback, whose word on a client's address counts.",
        needsRestart: true),
      Member(
        "proxy_header",
        .choice(ProxyRule.Header.allCases.map(\.rawValue), default: ProxyRule.Header.allCases.first?.rawValue),
        "Where proxies say it.", needsRestart: true),
      Member(
        "public_url", .text("^https?://[a-z0-9.-]+(:[0-9]+)?$"),
        "Where wallets reach the server; without it `openid4vp` is not offered."),
      Member(
        "store", .text("^(sqlite:.|postgres(ql)?://)"), "`sqlite:` and a path, or a `postgresql://` URL.",
        isRequired: true, needsRestart: true),
      Member(
        "node", .text("^[a-z0-9.-]{1,63}$"), "This server's name in audit entries; by default the host's.",
        needsRestart: true),
      Member(
        "trust",
        .list(of: .either([.text(), .object(anchorFiles), .object(vical), .object(trustedEntities)]), least: 1),
        "Files and folders of trust anchors, and published lists to follow.", isRequired: true),
      Member(
        "trust_state", .text(default: "trust-state"), "Folder of the last accepted lists."),
      Member(
        "trust_refresh", .integer(TrustReader.refreshSeconds, default: TrustReader.standardRefresh),
        "Seconds between loads of published lists."),
      Member(
        "clock_skew", .integer(0...Limits.longestClockSkew, default: Limits.clockSkew),
        "Seconds by which clocks may differ."),
      Member(
        "stop_notice", .integer(StopTimes.noticeSeconds, default: StopTimes.standard.notice),
        "Seconds for which `/readyz` says 503 before a stop begins.", needsRestart: true),
      Member(
        "stop_drain", .integer(StopTimes.drainSeconds, default: StopTimes.standard.drain),
        "Seconds that requests under way have to finish when the server stops.", needsRestart: true),
      Member(
        "sealing_keys", .list(of: .object(sealingKey), least: 1),
        "Keys for data at rest: the first seals, all open.", isRequired: true),
      Member(
        "relying_parties", .list(of: .object(relyingParty), least: 1), "Who may use the server.", isRequired: true),
    ])

  // MARK: The edge

  static let tls = ConfigurationTable(
    name: "tls",
    members: [
      Member("certificate", .text(), "Chain in PEM, the leaf first.", isRequired: true),
      Member("key", secret, "Its private key in PEM, not encrypted.", isRequired: true),
    ])

  static let limits = ConfigurationTable(
    name: "limits",
    members: [
      Member("per_key", limit, "Requests by one API key."),
      Member("per_session", limit, "Requests for one session without an API key."),
      Member("per_address", limit, "Requests without an API key from one IPv4 address, or IPv6 /64."),
      Member("connections", .integer(EdgeReader.connections, default: nil), "Connections at one time."),
      Member(
        "connections_per_address", .integer(EdgeReader.connectionsPerAddress, default: nil),
        "Connections of one address at one time; 0 for any number."),
      Member(
        "concurrent_requests", .integer(EdgeReader.concurrentRequests, default: nil),
        "Requests that are handled at one time."),
    ])

  static let rate = ConfigurationTable(
    name: "rate",
    members: [
      Member("rate", .integer(EdgeReader.rates, default: nil), "Requests a second.", isRequired: true),
      Member("burst", .integer(EdgeReader.rates, default: nil), "Requests at once; twice the rate by default."),
    ])

  /// `false` for no limit.
  private static let limit = ConfigurationTable.Kind.either([.object(rate), .flag(default: false)])

  // MARK: Secrets

  /// A file's name, or where else the secret is.
  private static let secret = ConfigurationTable.Kind.either([
    .text(), .object(variable), .object(secretFile),
  ])
  private static let privateKey = ConfigurationTable.Kind.either([
    .text(), .object(encryptedVariable), .object(encryptedFile),
  ])
  private static let variableName = Member(
    "env", .text("^[A-Za-z_][A-Za-z0-9_]*$"), "The environment variable that holds it.", isRequired: true)
  private static let fileName = Member("file", .text(), "The file that holds it.", isRequired: true)
  private static let passphrase = Member(
    "passphrase", secret, "With which the private key is encrypted (PKCS #8).")

  static let variable = ConfigurationTable(name: "secret_variable", members: [variableName])
  static let secretFile = ConfigurationTable(name: "secret_file", members: [fileName])
  static let encryptedVariable = ConfigurationTable(
    name: "private_key_variable", members: [variableName, passphrase])
  static let encryptedFile = ConfigurationTable(name: "private_key_file", members: [fileName, passphrase])

  private static let merchantCertificate = Member(
    "certificate", .text(), "Apple's certificate of this key, PEM or DER: its end is watched.")
  static let merchantVariable = ConfigurationTable(
    name: "merchant_key_variable", members: [variableName, passphrase, merchantCertificate])
  static let merchantFile = ConfigurationTable(
    name: "merchant_key_file", members: [fileName, passphrase, merchantCertificate])

  static let sealingKey = ConfigurationTable(
    name: "sealing_key",
    members: [
      Member("id", .text(), "1 to 64 bytes by which sealed data name their key.", isRequired: true),
      Member("file", secret, "32 bytes, raw or as hexadecimal or base64 text.", isRequired: true),
    ])

  // MARK: Relying parties

  static let relyingParty = ConfigurationTable(
    name: "relying_party",
    members: [
      Member("id", .text("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"), "Its name in logs and addresses.", isRequired: true),
      Member("origins", .list(of: .text(), least: 0), "Web origins that may ask and be answered."),
      Member("api_keys", .list(of: .object(apiKey), least: 0), "Keys of its backends, by their hashes."),
      Member(
        "apple", .either([.object(apple), .list(of: .object(apple), least: 1)]),
        "What Apple's in-app requests need of a merchant, or of each of several."),
      Member("readers", .list(of: .object(reader), least: 0), "Who signs its requests."),
      Member("openid4vp", .object(openID4VP), "What it has chosen of OpenID4VP."),
      Member(
        "revocation",
        .choice(RevocationPolicy.allCases.map(\.rawValue), default: RevocationPolicy.requireGood.rawValue),
        "What must be known about revocation before a document is accepted."),
      Member(
        "retain_results", .flag(default: false),
        "Whether elements requested with intent_to_retain are kept, sealed, until their day."),
      Member(
        "retain_days", .integer(Limits.retainDays, default: nil),
        "Days that they are kept where a request does not say; by default as long as their session, 30."),
      Member(
        "longest_retain_days", .integer(Limits.retainDays, default: Limits.longestRetainDays),
        "Days that a request may say."),
      Member("evidence", .object(evidence), "That evidence of its verified sessions is kept, sealed."),
      Member("webhooks", .list(of: .object(webhook), least: 0), "Where it is told of events."),
      Member("quota", .object(quota), "How much of the store it may have."),
    ])

  static let quota = ConfigurationTable(
    name: "quota",
    members: [
      Member("open_sessions", bound(Limits.openSessions), "Sessions that wait for their answer."),
      Member("bytes", bound(Limits.storedBytes), "Bytes of its sessions with all that is kept of them."),
      Member(
        "idempotency_bytes", bound(Limits.idempotencyBytes), "Bytes of replies that are kept under idempotency keys."),
    ])

  /// `false` for no bound.
  private static func bound(_ fallback: Int64) -> ConfigurationTable.Kind {
    .either([.integer(QuotaReader.numbers, default: fallback), .flag(default: false)])
  }

  static let evidence = ConfigurationTable(
    name: "evidence",
    members: [
      Member(
        "key", secret, "32 bytes, raw or as hexadecimal or base64 text: seals bundles, and opens them elsewhere.",
        isRequired: true)
    ])

  static let webhook = ConfigurationTable(
    name: "webhook",
    members: [
      Member("id", .text("^[A-Za-z0-9._-]{1,\(Limits.webhookIDCharacters)}$"), "Its name in logs.", isRequired: true),
      Member("url", .text("^https://"), "Where events are posted.", isRequired: true),
      Member(
        "secrets", .list(of: secret, least: 1), "`whsec_` and the base64 of 24 to 64 bytes; each of them signs.",
        isRequired: true),
      Member(
        "events", .list(of: .choice(EventType.allCases.map(\.rawValue), default: nil), least: 1),
        "Which events; all without it."),
      Member("allow", .object(webhookAllow), "Where it may be reached beside public hosts on port 443."),
    ])

  static let webhookAllow = ConfigurationTable(
    name: "webhook_allow",
    members: [
      Member("hosts", .list(of: .text(), least: 0), "Hosts of the URL that may be in a private network."),
      Member("ports", .list(of: .integer(1...65_535, default: nil), least: 0), "Ports beside 443."),
      Member(
        "networks", .list(of: .text(), least: 0),
        "Networks that may be reached; this machine's and link-local ones only by a network that has nothing else."),
    ])

  static let apiKey = ConfigurationTable(
    name: "api_key",
    members: [
      Member("sha256", .text("^[0-9A-Fa-f]{64}$"), "SHA-256 of the key's text.", isRequired: true),
      Member(
        "scopes", .list(of: .choice(Scope.allCases.map(\.rawValue), default: nil), least: 1), "What it may do.",
        isRequired: true),
      Member("id", .text("^[A-Za-z0-9._-]{1,64}$"), "What logs call it."),
      Member(
        "expires_at", .integer(APIKeyReader.times, default: nil),
        "Unix seconds from which it is answered like an unknown key."),
    ])

  static let apple = ConfigurationTable(
    name: "apple",
    members: [
      Member("merchant_id", .text(), "As in the app's entitlements.", isRequired: true),
      Member("team_id", .text(), "As in the app's entitlements.", isRequired: true),
      Member(
        "encryption_keys", .list(of: .either([.text(), .object(merchantVariable), .object(merchantFile)]), least: 1),
        "P-256 private keys in PEM, current and former.", isRequired: true),
    ])

  static let reader = ConfigurationTable(
    name: "reader",
    members: [
      Member("key", privateKey, "Private key in PEM.", isRequired: true),
      Member("certificates", .text(), "Chain in PEM, the leaf first.", isRequired: true),
      Member(
        "client_id", .text("^(x509_hash|x509_san_dns:.+)$", default: "x509_hash"), "How wallets are told its name."),
    ])

  static let openID4VP = ConfigurationTable(
    name: "openid4vp",
    members: [
      Member("encrypted_responses", .flag(default: true), "Whether wallets encrypt their answers."),
      Member("annex_b", .flag(default: false), "Whether ISO/IEC TS 18013-7:2024, Annex B, is offered as well."),
      Member("scheme", .text("^[a-z][a-z0-9+.-]{0,63}$", default: "openid4vp"), "Scheme of the address for wallets."),
      Member(
        "trusted_authorities", .list(of: .text("^([0-9A-Fa-f]{2}){1,64}$"), least: 0),
        "Subject key identifiers of the authorities whose documents wallets are to offer."),
    ])

  // MARK: Trust

  private static let crlAddresses = ConfigurationTable.Kind.choice(
    CRLAddresses.allCases.map(\.rawValue), default: CRLAddresses.named.rawValue)
  private static let crlAddressesHelp =
    "Where revocation lists may be asked for: as certificates name them, or over HTTPS on its own port alone."

  static let anchorFiles = ConfigurationTable(
    name: "anchor_files",
    members: [
      Member("files", .text(), "A file or folder of trust anchors.", isRequired: true),
      Member("crl_addresses", crlAddresses, crlAddressesHelp),
    ])

  private static let listMembers = [
    Member("name", .text("^[a-z0-9_-]{1,64}$"), "By which its last state is remembered.", isRequired: true),
    Member(
      "signer_anchors", .list(of: .text(), least: 1), "Certificates that the list's signer must lead to, or be.",
      isRequired: true),
    Member("ekus", .list(of: .text(), least: 1), "Extended key usages of which a document signer must have one."),
    Member(
      "max_path_length", .integer(0...8, default: 0), "Certificates between a listed authority and a document signer."),
    Member("crl_addresses", crlAddresses, crlAddressesHelp),
    Member(
      "crl_exceptions", .map(of: .choice(CRLAddresses.allCases.map(\.rawValue), default: nil)),
      "The same for single authorities, by the SHA-256 of their certificates."),
  ]

  static let vical = ConfigurationTable(
    name: "vical",
    members: [Member("vical", .text(), "Where the list is: an https address or a path.", isRequired: true)]
      + listMembers)

  static let trustedEntities = ConfigurationTable(
    name: "trusted_entities",
    members: [
      Member("trusted_entities", .text(), "Where the list is: an https address or a path.", isRequired: true),
      Member(
        "services", .map(of: .list(of: .text(), least: 1)), "Service types, each with its document types.",
        isRequired: true),
      Member("status_services", .list(of: .text(), least: 0), "Types of services that sign status lists."),
    ] + listMembers)
}

/// The JSON Schema of the configuration file (draft 2020-12), made from the tables that its readers go by.
///
/// It says what can be said without looking at other files: `mdoc serve --check-config` says the rest.
package enum ConfigurationSchema {
  package static let json: JSON = .members([
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "mdoc serve --config",
    "$ref": reference(ConfigurationTables.root),
    "$defs": .object(
      reachable(ConfigurationTables.root).map { JSON.Member($0.name, object($0)) }),
  ])

  private static func reference(_ table: ConfigurationTable) -> JSON { .string("#/$defs/\(table.name)") }

  private static func object(_ table: ConfigurationTable) -> JSON {
    [
      "type": "object",
      "properties": .object(
        table.members.map { member in
          let text = member.summary + (member.needsRestart ? " A new value needs a restart." : "")
          return JSON.Member(
            member.name, .object((schema(member.kind).object ?? []) + [.init("description", .string(text))]))
        }),
      "required": .array(table.members.filter(\.isRequired).map { .string($0.name) }),
      "additionalProperties": false,
    ]
  }

  private static func schema(_ kind: ConfigurationTable.Kind) -> JSON {
    switch kind {
    case .text(let pattern, let fallback):
      .members([
        "type": "string", "minLength": 1, "pattern": pattern.map { .string($0) },
        "default": fallback.map { .string($0) },
      ])
    case .flag(let fallback): ["type": "boolean", "default": .bool(fallback)]
    case .integer(let range, let fallback): OpenAPISchemas.number(range, fallback: fallback)
    case .choice(let names, let fallback):
      .members([
        "type": "string", "enum": .array(names.map { .string($0) }), "default": fallback.map { .string($0) },
      ])
    case .object(let table): ["$ref": reference(table)]
    case .list(let element, let least):
      ["type": "array", "items": schema(element), "minItems": .integer(Int64(least))]
    case .map(let value): ["type": "object", "additionalProperties": schema(value), "minProperties": 1]
    case .either(let kinds): ["anyOf": .array(kinds.map(schema))]
    }
  }

  /// The table and all that its members lead to, each once.
  private static func reachable(_ root: ConfigurationTable) -> [ConfigurationTable] {
    var found = [root]
    var next = 0
    while next < found.count {
      for table in found[next].members.flatMap({ tables(in: $0.kind) })
      where !found.contains(where: { $0.name == table.name }) {
        found.append(table)
      }
      next += 1
    }
    return found
  }

  private static func tables(in kind: ConfigurationTable.Kind) -> [ConfigurationTable] {
    switch kind {
    case .text, .flag, .integer, .choice: []
    case .object(let table): [table]
    case .list(let element, _): tables(in: element)
    case .map(let value): tables(in: value)
    case .either(let kinds): kinds.flatMap(tables)
    }
  }
}
