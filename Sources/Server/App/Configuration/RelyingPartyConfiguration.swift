import Base
import Cryptography
import Mdoc
import Presentation
import Sessions
import Trust

extension ConfigurationFile {
  var relyingParty: Shape<RelyingParty> {
    .form(
      "relying_party",
      Entry(
        "id",
        Shape.name(
          like: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$",
          "must have at most 64 letters, digits, and - _ . and not begin with a dot", { isName($0[...]) }),
        "The relying party's name in logs and addresses."),
      Entry(
        "origins",
        .origins(or: "\(AndroidOrigin.prefix) with the SHA-256 of a certificate", AndroidOrigin.isValid), or: [],
        "Web origins and Android apps that may make requests and get responses."),
      Entry("api_keys", apiKeys, or: [], "API keys of its backends, as hashes."),
      .ifAny("apple", merchants, "One merchant for Apple's in-app requests, or several."),
      Entry("readers", readers, or: [], "The signers of its requests."),
      Entry("openid4vp", OpenID4VPConfiguration.shape, or: [:], "Settings for OpenID4VP."),
      Entry(
        "registration_certificates", registrations, or: [],
        "Its EU registration certificates (WRPRC), JWS or CWT. List one file for each intended use."),
      .ifAny(
        "accepted_issuers", Self.acceptedIssuers,
        "Subject key identifiers of issuing authorities, by document type. Wallets offer only documents of these authorities."
      ),
      .ifAny("page", page, "The hosted page for the relying party's sessions."),
      Entry(
        "revocation", Shape<RevocationPolicy>.choice, or: .string(RevocationPolicy.requireGood.rawValue),
        "The revocation status that an accepted document needs."),
      Entry(
        "retain_results", Shape<Bool>.flag, or: false,
        "Whether to store elements requested with intent_to_retain, encrypted, for their `retain_days`."),
      .ifAny(
        "retain_days", Shape.integer(Limits.retainDays),
        "The default of a request's `retain_days`; if absent, 30."),
      Entry(
        "longest_retain_days", Shape.integer(Limits.retainDays), or: .integer(Limits.longestRetainDays),
        "The longest `retain_days` that a request may set."),
      .ifAny("evidence", evidence, "Stores encrypted evidence of its verified sessions."),
      Entry("webhooks", webhooks, or: [], "The endpoints to which its events are sent."),
      Entry("quota", Quota.shape, or: [:], "Its quota in the store."),
      Entry(
        "metadata_in_events", Shape<Bool>.flag, or: false,
        "Whether events and webhooks include a session's `metadata`, which may be personal."),
      .ifAny("templates", Self.templates, "Named requests, for use in sessions.")
    ) {
      place, id, origins, keys, apple, readers, openID4VP, registrations, issuers, page, revocation, retains,
      days, longest, evidence, webhooks, quota, eventsHaveMetadata, templates in
      if let days, days > longest {
        place.faults.warn("\(place.pointer)/retain_days exceeds longest_retain_days: \(longest) is used")
      }
      if let uri = openID4VP.redirectURI,
        RedirectURI.origin(of: uri, among: origins.filter(WebOrigin.isValid)) == nil
      {
        place.add(
          "openid4vp/redirect_uri",
          "must be an address without a fragment at one of the relying party's origins")
      }
      let policies = RelyingParty.Policies(
        retainsResults: retains, retention: RetentionPolicy(days: days.map { Int($0) }, longest: Int(longest)),
        revocation: revocation, evidenceKey: evidence, eventsHaveMetadata: eventsHaveMetadata)
      for (name, template) in templates ?? [:] {
        template.check(
          under: policies, at: "\(place.pointer)/templates/\(JSONPointer.escape(name))", &place.faults)
      }
      let party = RelyingParty(
        id: id, origins: origins, apiKeys: keys, apple: apple ?? [], readers: readers, openID4VP: openID4VP,
        registrations: registrations.map(\.certificate), acceptedIssuers: issuers ?? [:], page: page,
        policies: policies, webhooks: webhooks, quota: quota, templates: templates ?? [:])
      Self.warn(of: party, at: place.pointer, &place.faults)
      for registration in registrations { registration.warn(of: readers, at: now, &place.faults) }
      return party
    }
  }

  /// Checks relying parties against each other and against the rest of the file.
  func parties(
    _ parties: [RelyingParty], sealingKeys: [SealingKey], _ publicURL: String?, _ faults: inout Faults
  ) -> RelyingParties? {
    for (index, party) in parties.enumerated() {
      if let key = party.policies.evidenceKey {
        let pointer = "/relying_parties/\(index)/evidence/key"
        if sealingKeys.contains(where: key.isSame) {
          faults.add(pointer, "must not be one of sealing_keys, since the key's holder could decrypt the store")
        }
        if parties[..<index].contains(where: { $0.policies.evidenceKey == key }) {
          faults.add(pointer, "must not be another relying party's key, since its holder could decrypt these bundles")
        }
      }
      if party.page != nil, publicURL == nil {
        faults.add("/public_url", "is required, since relying party \"\(party.id)\" has a page")
      }
    }
    return faults.attempt("/relying_parties") { try RelyingParties(parties) }
  }

  private static func warn(of party: RelyingParty, at pointer: String, _ faults: inout Faults) {
    let wider: [(Scope, String)] = [
      (.auditReadAll, "reads only the audit entries of \"\(party.id)\"; to read all,"),
      (.operate, "sees only the figures of \"\(party.id)\" and cannot reload; to do both,"),
    ]
    for (scope, what) in wider {
      let narrow = party.apiKeys.firstIndex { $0.scopes.contains(.admin) && !$0.scopes.contains(scope) }
      guard let narrow else { continue }
      faults.warn("\(pointer)/api_keys/\(narrow): scope admin \(what) add \(scope.rawValue)")
    }
    if party.apiKeys.isEmpty {
      faults.warn("relying party \"\(party.id)\" has no api_keys, so it cannot make requests")
    }
    let settings = party.openID4VP
    if !settings.ageVerificationDocTypes.isEmpty {
      faults.warn(
        "\(pointer)/openid4vp/eu_age_verification: these requests are unsigned, and responses are unencrypted")
    }
    if !settings.encryptsResponses {
      faults.warn("\(pointer)/openid4vp/encrypted_responses: wallets send unencrypted responses")
    }
  }

  private static var acceptedIssuers: Shape<[String: [[UInt8]]]> {
    // The profile prescribes 20 bytes (SHA-1), but authorities also use other lengths.
    let identifier = Shape.nonEmptyString(like: "^([0-9A-Fa-f]{2}){1,64}$").parsed(
      "must be a subject key identifier in hexadecimal, without colons, of at most 64 bytes"
    ) { text in Hex.decode(text).flatMap { (1...64).contains($0.count) ? $0 : nil } }
    // Apple's bound on `issuerKeyIdentifiers`, for each document type.
    return identifier.list(1...1_000).byName("must be an object of document types, each with its key identifiers")
      .parsed { lists, _, _ in Dictionary(lists.map { ($0.name, $0.value) }) { first, _ in first } }
  }

  private static var templates: Shape<[String: RequestTemplate]> {
    RequestTemplate.shape.byName("must be an object of names, each with its request").parsed { templates, _, _ in
      Dictionary(templates.map { ($0.name, $0.value) }) { first, _ in first }
    }
  }

  private var evidence: Shape<EvidenceKey> {
    .form(
      "evidence",
      Entry(
        "key", keySecret,
        "32 bytes, raw or as hexadecimal or base64 text. They encrypt bundles, and decrypt them elsewhere.")
    ) { place, secret in
      place.faults.attempt(place.pointer + "/key") {
        try EvidenceKey(secret.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
      }
    }
  }

  private var page: Shape<HostedPage> {
    .form(
      "page",
      Entry(
        "name",
        Shape.nonEmptyString().checked("must have at most \(HostedPage.longestName) characters", HostedPage.isName),
        "The relying party's display name."),
      .ifAny(
        "color",
        Shape.name(like: HostedPage.colorPattern, "must be #rrggbb in lower case", HostedPage.isColor),
        "The colour of buttons, as #rrggbb in lower case."),
      .ifAny("logo", logo, "An SVG, PNG, WebP or JPEG of at most 100 kB."),
      .ifAny("logo_dark", logo, "The logo for dark backgrounds; by default the same."),
      .ifAny(
        "privacy_url",
        Shape.name(like: "^https://", "must be an https address") { text in
          text.hasPrefix("https://") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        }, "The address of the privacy notice."),
      Entry(
        "show_reason", Shape<Bool>.flag, or: false,
        "Whether the page shows why a document was rejected, if it is expired, of an unaccepted kind, "
          + "or lacks an element.")
    ) { _, name, color, logo, darkLogo, address, showsReason in
      HostedPage(
        name: name, color: color, logo: logo, darkLogo: darkLogo, privacyURL: address, showsReason: showsReason)
    }
  }

  private var logo: Shape<HostedPage.Logo> {
    return Shape.nonEmptyString().parsed { name, pointer, faults in
      guard HostedPage.Logo.mediaType(ofFile: name) != nil else {
        faults.add(pointer, HostedPage.Logo.wrongFile)
        return nil
      }
      guard let bytes = contents(of: resolve(name), at: pointer, &faults) else { return nil }
      if bytes.count > HostedPage.Logo.mostBytes {
        faults.add(pointer, "has \(bytes.count) bytes; at most \(HostedPage.Logo.mostBytes) are allowed")
      }
      return HostedPage.Logo(file: name, bytes: bytes)
    }
  }

  private var apiKeys: Shape<[APIKey]> {
    let key = Shape<APIKey>.form(
      "api_key",
      Entry(
        "sha256",
        Shape.nonEmptyString(like: "^[0-9A-Fa-f]{64}$").parsed(
          "must be 64 hexadecimal digits: the SHA-256 of the key"
        ) { text in Hex.decode(text).flatMap { $0.count == 32 ? $0 : nil } }, "SHA-256 of the key's text."),
      Entry("scopes", Shape<Scope>.choice.list(atLeast: 1), "Its rights."),
      .ifAny(
        "id",
        Shape.name(like: "^[A-Za-z0-9._-]{1,64}$", "must have at most 64 letters, digits, and - _ .") {
          $0.utf8.count <= 64 && $0.utf8.allSatisfy(\.isNameCharacter)
        }, "Its name in logs."),
      .ifAny(
        "expires_at", Shape.integer(0...253_402_300_799),
        "Expiry in Unix seconds. From then on, the key is refused like an unknown key.")
    ) { place, hash, scopes, id, end in
      let key = APIKey(
        sha256: hash, scopes: Set(scopes), id: id, expiresAt: end.map { Timestamp(secondsSince1970: $0) })
      if !key.isGood(at: now) {
        place.faults.warn("\(place.pointer)/expires_at: the key has expired; remove it")
      }
      return key
    }
    return key.list()
  }
}

extension HostedPage.Logo {
  private static let mediaTypes = [
    "svg": "image/svg+xml", "png": "image/png", "webp": "image/webp", "jpg": "image/jpeg", "jpeg": "image/jpeg",
  ]
  package static let mostBytes = 100_000
  /// The error for a file with an unsupported extension.
  package static let wrongFile = "must end in " + mediaTypes.keys.sorted().map { "." + $0 }.joined(separator: ", ")

  /// The media type for the file's extension.
  static func mediaType(ofFile name: String) -> String? {
    mediaTypes[name.split(separator: ".").last.map { $0.lowercased() } ?? ""]
  }

  package init?(file name: String, bytes: [UInt8]) {
    guard let mediaType = Self.mediaType(ofFile: name), bytes.count <= Self.mostBytes else { return nil }
    self.init(mediaType: mediaType, bytes: bytes)
  }
}

extension Faults {
  /// Returns the address of a list or an endpoint. If the address is not allowed, records the reason and returns nil.
  mutating func address(
    _ text: String, allowing rules: FetchRules, at pointer: String, _ otherwise: String
  ) -> ListAddress? {
    attempt(pointer) { () throws(FetchError) in
      try ListAddress(text, allowing: rules)
    } text: { error in
      if case .notAllowed(let reason) = error { reason } else { otherwise }
    }
  }
}

extension Quota {
  /// The value `false` means no limit.
  static let shape = Shape<Quota>.form(
    "quota",
    Entry("open_sessions", bound, or: .integer(Limits.openSessions), "Sessions that wait for a response."),
    Entry("bytes", bound, or: .integer(Limits.storedBytes), "Bytes of sessions and of all data stored with them."),
    Entry(
      "idempotency_bytes", bound, or: .integer(Limits.idempotencyBytes),
      "Bytes of replies that are stored under idempotency keys.")
  ) { Quota(openSessions: $1, bytes: $2, idempotencyBytes: $3) }

  private static let bound = Shape.integer(1...(1 << 50)).orFalse
}

extension Shape where Value == [String] {
  /// Reads web origins, and other texts that pass the check.
  fileprivate static func origins(or other: String, _ isOther: @escaping @Sendable (String) -> Bool) -> Shape {
    Shape<String>.nonEmptyString().checked(
      "must be https://host[:port] as browsers write it: lower case, no path, no :443; http only for loopback; "
        + "or \(other)"
    ) { WebOrigin.isValid($0) || isOther($0) }.list()
  }
}

extension OpenID4VPConfiguration {
  static let shape = Shape<OpenID4VPConfiguration>.form(
    "openid4vp",
    retired: ["trusted_authorities": "was replaced by the relying party's accepted_issuers, by document type"],
    Entry("encrypted_responses", Shape<Bool>.flag, or: true, "Whether wallets encrypt their responses."),
    Entry(
      "annex_b", Shape<Bool>.flag, or: false, "Whether to offer ISO/IEC TS 18013-7:2024, Annex B, too."),
    Entry(
      "scheme",
      Shape.name(
        like: "^[a-z][a-z0-9+.-]{0,63}$", "must be the scheme of an address, in lower case and without \"://\"",
        isScheme), or: "openid4vp", "Scheme of the address for wallets."),
    Entry(
      "eu_age_verification", Shape.nonEmptyString().list(), or: [],
      "Document types for the European age verification profile's unsigned link."),
    Entry("device_mac", Shape<Bool>.flag, or: true, "Whether devices may authenticate by MAC."),
    .ifAny(
      "wallet_feedback", Shape<Bool>.flag,
      "Whether to tell wallets about a rejection; in live mode without the reason. By default only outside live mode."),
    .ifAny(
      "redirect_uri", Shape.nonEmptyString(),
      "The address to which wallets send people after a session without `redirect_uri` and `return_url`."),
    Entry(
      "redirect_schemes",
      Shape.name(
        like: "^[a-z][a-z0-9+-]*(\\.[a-z0-9+-]+)+$",
        "must be the scheme of an app: a domain name in reverse, in lower case, such as com.example.shop",
        {
          isScheme($0) && $0.contains(".") && !$0.split(separator: ".", omittingEmptySubsequences: false).contains("")
        }
      ).list(), or: [], "Schemes of the relying party's apps, allowed in `redirect_uri`."),
    Entry(
      "wallet_origins", .origins(or: "*") { $0 == "*" }, or: [],
      "Origins of wallets that are web pages; `*` means any.")
  ) { _, encrypts, annexB, scheme, ages, macs, feedback, uri, schemes, origins in
    var settings = OpenID4VPConfiguration(
      encryptsResponses: encrypts, offersAnnexB: annexB, scheme: scheme, ageVerificationDocTypes: ages,
      acceptsMACs: macs, redirectURI: uri)
    settings.walletFeedback = feedback
    settings.redirectSchemes = schemes
    settings.walletOrigins = origins
    return settings
  }

  /// True if the text is a scheme in lower case (RFC 3986, 3.1), of at most 64 characters.
  @Sendable private static func isScheme(_ text: String) -> Bool {
    text.utf8.count <= 64 && text.wholeMatch(of: /[a-z][a-z0-9+.\-]*/) != nil
  }
}

extension ConfigurationFile {
  /// `webhooks` of a relying party: the endpoints of events.
  private var webhooks: Shape<[WebhookEndpoint]> {
    webhook.list().parsed { endpoints, pointer, faults in
      faults.noteDuplicates(endpoints.map(\.id), at: pointer, "/id")
      if endpoints.count > Limits.webhooks { faults.add(pointer, "may have at most \(Limits.webhooks)") }
      return endpoints
    }
  }

  private var webhook: Shape<WebhookEndpoint> {
    let length = Limits.webhookIDCharacters
    return .form(
      "webhook",
      Entry(
        "id",
        Shape.name(
          like: "^[A-Za-z0-9._-]{1,\(length)}$", "must have at most \(length) letters, digits, and - _ .",
          { WebhookEndpoint.isID($0) }), "Its name in logs."),
      Entry("url", Shape.nonEmptyString(like: "^https://"), "The address for events."),
      Entry(
        "secrets",
        webhookSecret.list(atLeast: 1).checked("must be at most \(Limits.webhookSecrets) secrets") {
          $0.count <= Limits.webhookSecrets
        }, "`whsec_` and the base64 of 24 to 64 bytes. Each secret signs."),
      .ifAny("events", Shape<EventType>.choice.list(atLeast: 1), "The events to send; by default all."),
      .ifAny("allow", Self.allowed, "Allowed targets in addition to public hosts on port 443.")
    ) { place, id, url, secrets, events, allow in
      let targets = allow?.targets ?? .none
      // Checks the address without resolving its host name.
      let rules = DeliveryAttempt.rules(in: .live, targets)
      if let address = place.faults.address(url, allowing: rules, at: place.pointer + "/url", "is not an address"),
        let hosts = allow?.hosts, !hosts.isEmpty, !hosts.contains(address.host)
      {
        place.add("allow/hosts", "must have the host of `url`")
      }
      return WebhookEndpoint(
        id: id, url: url, secrets: secrets, types: Set(events ?? EventType.allCases), targets: targets)
    }
  }

  private var webhookSecret: Shape<WebhookSecret> {
    secret.parsed { source, pointer, faults in
      let secret = source.bytes.withUnsafeBytes { WebhookSecret(content: $0) }
      if secret == nil { faults.add(pointer, "\(source.name) is not whsec_ and the base64 of 24 to 64 bytes") }
      return secret
    }
  }

  /// A host in the configuration may be in any private network. Loopback and link-local networks must be listed
  /// explicitly.
  private static let allowed = Shape<(hosts: [String], targets: InternalTargets)>.form(
    "webhook_allow",
    Entry(
      "hosts", Shape.nonEmptyString().list(), or: [], "Hosts of the URL that may be in a private network."),
    Entry("ports", Shape.whole(1...65_535).list(), or: [], "Allowed ports in addition to 443."),
    Entry(
      "networks",
      Shape.nonEmptyString().parsed(
        "must be a network or an address, such as 10.20.0.0/16 or 10.20.0.7", { AddressRange($0) }
      ).list(), or: [],
      "Private networks that the server may reach. Loopback and link-local networks need their own entries.")
  ) { _, hosts, ports, networks in
    (
      hosts.map { $0.lowercased() },
      InternalTargets(
        ports: Set(ports.map { UInt16($0) }),
        networks: networks + (hosts.isEmpty ? [] : AddressGuard.privateNetworks))
    )
  }
}
