import Base
import Cryptography
import Mdoc
import Presentation
import Sessions

/// Reads `relying_parties`.
struct RelyingPartyReader {
  static let nameCharacters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)

  let secrets: SecretFiles
  let sealingKeys: [SealingKey]
  let now: Timestamp

  func relyingParties(
    _ root: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> RelyingParties {
    let known = ConfigurationTables.relyingParty.names
    var parties: [RelyingParty] = []
    for entry in try root.objects("relying_parties", isRequired: true, known: known) {
      if let party = relyingParty(entry, beside: parties, &warnings) { parties.append(party) }
    }
    do throws(ConfigurationError) {
      return try RelyingParties(parties)
    } catch {
      throw root.fault("relying_parties", error.message)
    }
  }

  /// Nil where a member is at fault; all members are read nevertheless.
  private func relyingParty(
    _ entry: ConfigurationReader, beside others: [RelyingParty], _ warnings: inout [String]
  ) -> RelyingParty? {
    let id = entry.attempt { () throws(StartError) in try self.id(entry) }
    let origins = entry.attempt { () throws(StartError) in try self.origins(entry) }
    let keys = entry.attempt { () throws(StartError) in try APIKeyReader(now: now).apiKeys(entry, &warnings) }
    let apple = entry.attempt { () throws(StartError) in try MerchantReader(secrets: secrets).merchants(entry) }
    let readers = entry.attempt { () throws(StartError) in
      try ReaderFiles(secrets: secrets, now: now).readers(entry, &warnings)
    }
    let openID4VP = entry.attempt { () throws(StartError) in
      try OpenID4VPReader().configuration(entry, &warnings)
    }
    let revocation = entry.attempt { () throws(StartError) in try self.revocation(entry) }
    let retainsResults = entry.attempt { () throws(StartError) in try entry.bool("retain_results", default: false) }
    let retention = entry.attempt { () throws(StartError) in try self.retention(entry, &warnings) }
    let evidence = entry.attempt { () throws(StartError) in try self.evidence(entry, beside: others) }
    let webhooks = entry.attempt { () throws(StartError) in
      try WebhookReader(secrets: secrets.reader).webhooks(entry)
    }
    let quota = entry.attempt { () throws(StartError) in try QuotaReader().quota(entry) }
    guard let id, let origins, let keys, let apple, let readers, let openID4VP, let revocation, let retainsResults,
      let retention, let evidence, let webhooks, let quota
    else { return nil }
    if let key = keys.firstIndex(where: { $0.scopes.contains(.admin) && !$0.scopes.contains(.auditReadAll) }) {
      warnings.append(
        "\(entry.pointer)/api_keys/\(key): admin reads the audit entries of \"\(id)\" alone; all need audit:read_all")
    }
    if keys.isEmpty { warnings.append("relying party \"\(id)\" has no api_keys: nobody can ask in its name") }
    return RelyingParty(
      id: id, origins: origins, apiKeys: keys, apple: apple, readers: readers, openID4VP: openID4VP,
      policies: .init(
        retainsResults: retainsResults, retention: retention, revocation: revocation, evidenceKey: evidence),
      webhooks: webhooks, quota: quota)
  }

  /// It is written to logs and into addresses: a short name.
  private func id(_ entry: ConfigurationReader) throws(StartError) -> String {
    let id = try entry.string("id")
    guard id.utf8.count <= 64, id.utf8.allSatisfy(Self.nameCharacters.contains), !id.hasPrefix(".") else {
      throw entry.fault("id", "must have at most 64 letters, digits, and - _ . and not begin with a dot")
    }
    return id
  }

  private func origins(_ entry: ConfigurationReader) throws(StartError) -> [String] {
    let origins = try entry.strings("origins", isRequired: false)
    for (index, origin) in origins.enumerated() where !WebOrigin.isValid(origin) {
      throw entry.fault(
        "origins/\(index)",
        "must be https://host[:port] as browsers write it: lower case, no path, no :443; http only for loopback")
    }
    return origins
  }

  private func revocation(_ entry: ConfigurationReader) throws(StartError) -> RevocationPolicy {
    guard entry.value("revocation") != nil else { return .requireGood }
    guard let policy = RevocationPolicy(rawValue: try entry.string("revocation")) else {
      let known = RevocationPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw entry.fault("revocation", "must be one of \(known)")
    }
    return policy
  }

  private func retention(
    _ entry: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> RetentionPolicy {
    let longest = try entry.integer("longest_retain_days", in: Limits.retainDays, default: Limits.longestRetainDays)
    guard entry.value("retain_days") != nil else { return RetentionPolicy(longest: Int(longest)) }
    let days = try entry.integer("retain_days", in: Limits.retainDays, default: longest)
    if days > longest {
      warnings.append("\(entry.pointer)/retain_days is more than longest_retain_days, \(longest), which counts")
    }
    return RetentionPolicy(days: Int(days), longest: Int(longest))
  }

  private func evidence(
    _ entry: ConfigurationReader, beside others: [RelyingParty]
  ) throws(StartError) -> EvidenceKey? {
    guard let evidence = try entry.object("evidence", known: ConfigurationTables.evidence.names) else { return nil }
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

/// Reads `openid4vp` of a relying party: `{"encrypted_responses": true, "annex_b": false, "scheme": "openid4vp",
/// "trusted_authorities": []}`.
struct OpenID4VPReader {
  /// Octets of a key identifier: SHA-1 by the profile, and what else authorities have made of it.
  private static let identifierOctets = 1...64

  func configuration(
    _ party: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> OpenID4VPConfiguration {
    var configuration = OpenID4VPConfiguration()
    let known = ConfigurationTables.openID4VP.names
    guard let entry = try party.object("openid4vp", known: known) else { return configuration }
    configuration.encryptsResponses = try entry.bool("encrypted_responses", default: true)
    configuration.offersAnnexB = try entry.bool("annex_b", default: false)
    if entry.value("scheme") != nil {
      configuration.scheme = try entry.string("scheme")
      guard Self.isScheme(configuration.scheme) else {
        throw entry.fault("scheme", "must be the scheme of an address, in lower case and without \"://\"")
      }
    }
    for (index, text) in try entry.strings("trusted_authorities", isRequired: false).enumerated() {
      guard let identifier = Hex.decode(text), Self.identifierOctets.contains(identifier.count) else {
        throw entry.fault("trusted_authorities/\(index)", "must be a subject key identifier in hexadecimal")
      }
      configuration.trustedAuthorities.append(identifier)
    }
    if !configuration.encryptsResponses {
      warnings.append("\(entry.pointer)/encrypted_responses: wallets are asked to answer in clear")
    }
    return configuration
  }

  /// RFC 3986, 3.1.
  private static func isScheme(_ text: String) -> Bool {
    let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    let others = Array("0123456789+-.".utf8)
    guard let first = text.utf8.first, letters.contains(first), text.utf8.count <= 64 else { return false }
    return text.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
  }
}
