import Cryptography
import Mdoc
import Presentation
import Primitives
import VerificationService

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
    let apple = entry.attempt { () throws(StartError) in try self.apple(entry) }
    let readers = entry.attempt { () throws(StartError) in
      try ReaderFiles(secrets: secrets, now: now).readers(entry, &warnings)
    }
    let openID4VP = entry.attempt { () throws(StartError) in
      try OpenID4VPReader().configuration(entry, &warnings)
    }
    let revocation = entry.attempt { () throws(StartError) in try self.revocation(entry) }
    let retainsResults = entry.attempt { () throws(StartError) in try entry.bool("retain_results", default: false) }
    let evidence = entry.attempt { () throws(StartError) in try self.evidence(entry, beside: others) }
    let webhooks = entry.attempt { () throws(StartError) in
      try WebhookReader(secrets: secrets.reader).webhooks(entry)
    }
    guard let id, let origins, let keys, let apple, let readers, let openID4VP, let revocation, let retainsResults,
      let evidence, let webhooks
    else { return nil }
    if keys.isEmpty { warnings.append("relying party \"\(id)\" has no api_keys: nobody can ask in its name") }
    return RelyingParty(
      id: id, origins: origins, apiKeys: keys, apple: apple, readers: readers, openID4VP: openID4VP,
      policies: .init(retainsResults: retainsResults, revocation: revocation, evidenceKey: evidence), webhooks: webhooks
    )
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

  private func evidence(
    _ entry: ConfigurationReader, beside others: [RelyingParty]
  ) throws(StartError) -> EvidenceKey? {
    guard let evidence = try entry.object("evidence", known: ConfigurationTables.evidence.names) else { return nil }
    let bytes = try secrets.keyBytes(of: "key", in: evidence)
    let key: EvidenceKey
    do throws(ConfigurationError) {
      key = try EvidenceKey(SecretBytes(copying: bytes))
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

  private func apple(_ entry: ConfigurationReader) throws(StartError) -> AppleConfiguration? {
    guard let apple = try entry.object("apple", known: ConfigurationTables.apple.names) else { return nil }
    let merchant = apple.attempt { () throws(StartError) in try apple.string("merchant_id") }
    let team = apple.attempt { () throws(StartError) in try apple.string("team_id") }
    guard let list = try apple.required("encryption_keys").array, !list.isEmpty else {
      throw apple.fault("encryption_keys", "must be a list of private keys with at least one")
    }
    let keys = list.enumerated().compactMap { index, json in
      apple.attempt { () throws(StartError) in
        try secrets.encryptionKey(json, at: "\(apple.pointer)/encryption_keys/\(index)")
      }
    }
    // What is missing has been noted, so that the configuration as a whole is refused.
    guard let merchant, let team else { return nil }
    return AppleConfiguration(merchantID: merchant, teamID: team, encryptionKeys: keys)
  }
}
