import Base
import Cryptography
import Mdoc
import Presentation
import Sessions

/// Reads `relying_parties`.
struct ConfiguredParties {
  let secrets: ConfiguredSecrets
  let sealingKeys: [SealingKey]
  let now: Timestamp

  func all(_ root: Schema.Object, _ warnings: inout [String]) throws(Schema.Fault) -> RelyingParties {
    var parties: [RelyingParty] = []
    let registrations = root.attempt(try ConfiguredRegistrations(root, file: secrets.file, now: now))
    for entry in try root.objects("relying_parties") {
      if let party = party(entry, beside: parties, registrations, &warnings) { parties.append(party) }
    }
    do throws(ConfigurationError) {
      return try RelyingParties(parties)
    } catch {
      throw root.fault("relying_parties", error.message)
    }
  }

  /// Nil if a member has a fault. All members are read nevertheless, so that every fault is noted.
  private func party(
    _ entry: Schema.Object, beside others: [RelyingParty], _ registrations: ConfiguredRegistrations?,
    _ warnings: inout [String]
  ) -> RelyingParty? {
    let id = entry.attempt(try self.id(entry))
    let origins = entry.attempt(try self.origins(entry))
    let keys = entry.attempt(try APIKey.configured(entry, at: now, &warnings))
    let apple = entry.attempt(try ConfiguredMerchants(secrets: secrets).all(of: entry))
    let readers = entry.attempt(try ConfiguredReaders(secrets: secrets, now: now).all(of: entry, &warnings))
    let openID4VP = entry.attempt(try OpenID4VPConfiguration(configured: entry, &warnings))
    let registered = entry.attempt(try registrations?.all(of: entry, readers: readers ?? [], &warnings))
    let acceptedIssuers = entry.attempt(try self.acceptedIssuers(entry))
    let page = entry.attempt(try ConfiguredPage(file: secrets.file).page(of: entry))
    let revocation = entry.attempt(try self.revocation(entry))
    let retainsResults = entry.attempt(try entry.flag("retain_results"))
    let retention = entry.attempt(try self.retention(entry, &warnings))
    let evidence = entry.attempt(try self.evidence(entry, beside: others))
    let webhooks = entry.attempt(try ConfiguredWebhooks(secrets: secrets).all(of: entry))
    let quota = entry.attempt(try Quota(configured: entry))
    guard let id, let origins, let keys, let apple, let readers, let openID4VP,
      let registered = registered ?? nil, let acceptedIssuers, let page, let revocation, let retainsResults,
      let retention, let evidence, let webhooks, let quota
    else { return nil }
    let wider: [(Scope, String)] = [
      (.auditReadAll, "reads the audit entries of"), (.operate, "reloads nothing, and sees the figures of"),
    ]
    for (scope, what) in wider {
      guard let key = keys.firstIndex(where: { $0.scopes.contains(.admin) && !$0.scopes.contains(scope) }) else {
        continue
      }
      warnings.append(
        "\(entry.pointer)/api_keys/\(key): admin \(what) \"\(id)\" only; more needs \(scope.rawValue)")
    }
    if keys.isEmpty { warnings.append("relying party \"\(id)\" has no api_keys: nobody can ask in its name") }
    return RelyingParty(
      id: id, origins: origins, apiKeys: keys, apple: apple, readers: readers, openID4VP: openID4VP,
      registrations: registered, acceptedIssuers: acceptedIssuers, page: page,
      policies: .init(
        retainsResults: retainsResults, retention: retention, revocation: revocation, evidenceKey: evidence),
      webhooks: webhooks, quota: quota)
  }

  /// The id is written to logs and into addresses, so it must be a short name.
  private func id(_ entry: Schema.Object) throws(Schema.Fault) -> String {
    let id = try entry.text("id")
    guard isName(id[...]) else {
      throw entry.fault("id", "must have at most 64 letters, digits, and - _ . and not begin with a dot")
    }
    return id
  }

  private func origins(_ entry: Schema.Object) throws(Schema.Fault) -> [String] {
    try entry.origins("origins", or: "\(AndroidOrigin.prefix) with the SHA-256 of a certificate", AndroidOrigin.isValid)
  }

  /// Apple's bound on `issuerKeyIdentifiers`, for each document type.
  static let acceptedIssuers = 1...1_000
  /// Lengths of a key identifier in bytes. The profile has SHA-1 (20 bytes), but authorities use others too.
  private static let identifierBytes = 1...64

  private func acceptedIssuers(_ entry: Schema.Object) throws(Schema.Fault) -> [String: [[UInt8]]] {
    guard entry.value("accepted_issuers") != nil else { return [:] }
    var issuers: [String: [[UInt8]]] = [:]
    for (docType, texts) in try entry.textLists("accepted_issuers", byName: "document types", of: "key identifiers") {
      guard Self.acceptedIssuers.contains(texts.count) else {
        throw entry.fault(
          "accepted_issuers/\(JSONPointer.escape(docType))",
          "must have 1 to \(Self.acceptedIssuers.upperBound) key identifiers")
      }
      let identifiers = texts.compactMap(Hex.decode).filter { Self.identifierBytes.contains($0.count) }
      guard identifiers.count == texts.count else {
        throw entry.fault(
          "accepted_issuers/\(JSONPointer.escape(docType))",
          "must be subject key identifiers in hexadecimal, without colons, of at most 64 bytes each")
      }
      issuers[docType] = identifiers
    }
    return issuers
  }

  private func revocation(_ entry: Schema.Object) throws(Schema.Fault) -> RevocationPolicy {
    guard let policy = RevocationPolicy(rawValue: try entry.text("revocation")) else {
      let known = RevocationPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw entry.fault("revocation", "must be one of \(known)")
    }
    return policy
  }

  private func retention(
    _ entry: Schema.Object, _ warnings: inout [String]
  ) throws(Schema.Fault) -> RetentionPolicy {
    let longest = try entry.number("longest_retain_days")
    guard let days = try entry.ifAny("retain_days", entry.number) else { return RetentionPolicy(longest: Int(longest)) }
    if days > longest {
      warnings.append("\(entry.pointer)/retain_days is more than longest_retain_days, \(longest), which counts")
    }
    return RetentionPolicy(days: Int(days), longest: Int(longest))
  }

  private func evidence(
    _ entry: Schema.Object, beside others: [RelyingParty]
  ) throws(Schema.Fault) -> EvidenceKey? {
    guard let evidence = try entry.object("evidence") else { return nil }
    let secret = try secrets.keySecret(of: "key", in: evidence)
    let key: EvidenceKey
    do throws(ConfigurationError) {
      key = try EvidenceKey(secret.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
    } catch {
      throw evidence.fault("key", error.message)
    }
    guard !sealingKeys.contains(where: key.isSame) else {
      throw evidence.fault("key", "is one of sealing_keys: whoever opens bundles could open the store")
    }
    guard !others.contains(where: { $0.policies.evidenceKey == key }) else {
      throw evidence.fault("key", "is another relying party's: whoever judges its bundles could open these")
    }
    return key
  }
}

extension Schema.Object {
  /// A list of web origins, or of what else the check admits.
  fileprivate func origins(
    _ name: String, or other: String, _ isOther: (String) -> Bool
  ) throws(Schema.Fault) -> [String] {
    let origins = try texts(name)
    for (index, origin) in origins.enumerated() where !WebOrigin.isValid(origin) && !isOther(origin) {
      throw fault(
        "\(name)/\(index)",
        "must be https://host[:port] as browsers write it: lower case, no path, no :443; http only for loopback; "
          + "or \(other)")
    }
    return origins
  }
}

extension OpenID4VPConfiguration {
  /// Reads `openid4vp` of a relying party: `{"encrypted_responses": true, "annex_b": false, "scheme": "openid4vp",
  /// "eu_age_verification": [], "device_mac": true, "redirect_uri": "https://shop.example/done"}`.
  init(configured party: Schema.Object, _ warnings: inout [String]) throws(Schema.Fault) {
    self.init()
    // Before the object is read, which would say that it does not know the member.
    guard party.value("openid4vp")?["trusted_authorities"] == nil else {
      throw party.fault(
        "openid4vp/trusted_authorities", "is now accepted_issuers of the relying party, by document type")
    }
    guard let entry = try party.object("openid4vp") else { return }
    encryptsResponses = try entry.flag("encrypted_responses")
    offersAnnexB = try entry.flag("annex_b")
    scheme = try entry.text("scheme")
    guard Self.isScheme(scheme) else {
      throw entry.fault("scheme", "must be the scheme of an address, in lower case and without \"://\"")
    }
    ageVerificationDocTypes = try entry.texts("eu_age_verification")
    if !ageVerificationDocTypes.isEmpty {
      warnings.append(
        "\(entry.pointer)/eu_age_verification: nobody signs these requests, and wallets answer without encryption")
    }
    acceptsMACs = try entry.flag("device_mac")
    walletFeedback = try entry.ifAny("wallet_feedback", entry.flag)
    redirectURI = try entry.ifAny("redirect_uri", entry.text)
    let origins = try party.texts("origins").filter(WebOrigin.isValid)
    if let redirectURI, RedirectURI.origin(of: redirectURI, among: origins) == nil {
      throw entry.fault("redirect_uri", "must be an address without a fragment at one of the relying party's origins")
    }
    redirectSchemes = try entry.texts("redirect_schemes")
    for (index, scheme) in redirectSchemes.enumerated()
    where !Self.isScheme(scheme) || scheme.split(separator: ".", omittingEmptySubsequences: false).contains("")
      || !scheme.contains(".")
    {
      throw entry.fault(
        "redirect_schemes/\(index)",
        "must be the scheme of an app: a domain name in reverse, in lower case, such as com.example.shop")
    }
    walletOrigins = try entry.origins("wallet_origins", or: "*") { $0 == "*" }
    if !encryptsResponses {
      warnings.append("\(entry.pointer)/encrypted_responses: wallets are asked to answer in clear")
    }
  }

  /// Whether the text is a scheme in lower case (RFC 3986, 3.1), of at most 64 characters.
  private static func isScheme(_ text: String) -> Bool {
    let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    let others = Array("0123456789+-.".utf8)
    guard let first = text.utf8.first, letters.contains(first), text.utf8.count <= 64 else { return false }
    return text.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
  }
}
