import Cryptography
import Mdoc
import Primitives
import VerificationService

/// Reads `relying_parties`.
struct RelyingPartyReader {
  private static let members = [
    "id", "origins", "api_keys", "apple", "readers", "openid4vp", "revocation", WebhookReader.member,
  ]

  let secrets: SecretFiles
  let now: Timestamp

  func relyingParties(
    _ root: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> RelyingParties {
    var parties: [RelyingParty] = []
    for entry in try root.objects("relying_parties", isRequired: true, known: Self.members) {
      parties.append(
        RelyingParty(
          id: try id(entry), origins: try origins(entry), apiKeys: try apiKeys(entry),
          apple: try apple(entry, &warnings),
          readers: try ReaderFiles(secrets: secrets, now: now).readers(entry, &warnings),
          openID4VP: try OpenID4VPReader().configuration(entry, &warnings),
          policies: .init(revocation: try revocation(entry)),
          webhooks: try WebhookReader(file: secrets.file).webhooks(entry, &warnings)))
    }
    do throws(ConfigurationError) {
      return try RelyingParties(parties)
    } catch {
      throw root.fault("relying_parties", error.message)
    }
  }

  /// It is written to logs and into addresses: a short name.
  private func id(_ entry: ConfigurationReader) throws(StartError) -> String {
    let id = try entry.string("id")
    let allowed = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)
    guard id.utf8.count <= 64, id.utf8.allSatisfy(allowed.contains), !id.hasPrefix(".") else {
      throw entry.fault("id", "must have at most 64 letters, digits, and - _ . and not begin with a dot")
    }
    return id
  }

  private func origins(_ entry: ConfigurationReader) throws(StartError) -> [String] {
    let origins = try entry.strings("origins", isRequired: false)
    for (index, origin) in origins.enumerated() where !WebOrigin.isValid(origin) {
      throw entry.fault(
        "origins/\(index)", "must be https://host[:port] in lower case, without a path; http only for loopback")
    }
    return origins
  }

  private func apiKeys(_ entry: ConfigurationReader) throws(StartError) -> [APIKey] {
    var keys: [APIKey] = []
    for key in try entry.objects("api_keys", isRequired: false, known: ["sha256", "scopes"]) {
      guard let hash = Hex.decode(try key.string("sha256")), hash.count == 32 else {
        throw key.fault("sha256", "must be 64 hexadecimal digits: the SHA-256 of the key")
      }
      var scopes: Set<Scope> = []
      for (index, name) in try key.strings("scopes", isRequired: true).enumerated() {
        guard let scope = Scope(rawValue: name) else {
          let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
          throw key.fault("scopes/\(index)", "\"\(name)\" is no scope; scopes are \(known)")
        }
        scopes.insert(scope)
      }
      keys.append(APIKey(sha256: hash, scopes: scopes))
    }
    return keys
  }

  private func revocation(_ entry: ConfigurationReader) throws(StartError) -> RevocationPolicy {
    guard entry.value("revocation") != nil else { return .requireGood }
    guard let policy = RevocationPolicy(rawValue: try entry.string("revocation")) else {
      let known = RevocationPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw entry.fault("revocation", "must be one of \(known)")
    }
    return policy
  }

  private func apple(
    _ entry: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> AppleConfiguration? {
    guard let apple = try entry.object("apple", known: ["merchant_id", "team_id", "encryption_keys"]) else {
      return nil
    }
    var keys: [PrivateKey] = []
    for (index, name) in try apple.strings("encryption_keys", isRequired: true).enumerated() {
      keys.append(try secrets.encryptionKey(name, of: apple, member: "encryption_keys/\(index)", &warnings))
    }
    return AppleConfiguration(
      merchantID: try apple.string("merchant_id"), teamID: try apple.string("team_id"), encryptionKeys: keys)
  }
}

/// Web origins as browsers write them (RFC 6454, 6.2), since they are compared byte by byte.
enum WebOrigin {
  static func isValid(_ origin: String) -> Bool {
    for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
      let parts = origin.dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
      guard let host = parts.first, isHost(host), parts.count <= 2 else { return false }
      if parts.count == 2 {
        guard let port = UInt16(parts[1]), String(port) == parts[1], port > 0 else { return false }
      }
      return scheme == "https://" || host == "localhost" || host == "127.0.0.1"
    }
    return false
  }

  /// The host of a valid origin.
  static func host(_ origin: String) -> String? {
    origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
  }

  private static func isHost(_ host: Substring) -> Bool {
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-.".utf8)
    return !host.isEmpty && host.utf8.count <= 253 && host.utf8.allSatisfy(allowed.contains)
      && host.first != "." && host.last != "." && !host.contains("..")
  }
}
