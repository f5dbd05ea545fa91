import Base
import Sessions

/// Reads `api_keys` of a relying party.
///
/// ```json
/// { "api_keys": [ { "sha256": "…", "scopes": ["sessions:write"], "id": "2026-11", "expires_at": 1796000000 } ] }
/// ```
struct APIKeyReader {
  /// Until the year 9999.
  static let times: ClosedRange<Int64> = 0...253_402_300_799

  let now: Timestamp

  func apiKeys(_ party: ConfigurationReader, _ warnings: inout [String]) throws(StartError) -> [APIKey] {
    let entries = try party.objects("api_keys", isRequired: false, known: ConfigurationTables.apiKey.names)
    let keys = entries.compactMap(apiKey)
    for (entry, key) in zip(entries, keys) where keys.count == entries.count && !key.isGood(at: now) {
      warnings.append("\(entry.pointer)/expires_at: the key has expired; it can be removed")
    }
    return keys
  }

  private func apiKey(_ entry: ConfigurationReader) -> APIKey? {
    let hash = entry.attempt { () throws(StartError) in try sha256(entry) }
    let scopes = entry.attempt { () throws(StartError) in try self.scopes(entry) }
    let id = entry.attempt { () throws(StartError) in try self.id(entry) }
    let end = entry.attempt { () throws(StartError) in try self.end(entry) }
    guard let hash, let scopes, let id, let end else { return nil }
    return APIKey(sha256: hash, scopes: scopes, id: id, expiresAt: end)
  }

  private func sha256(_ entry: ConfigurationReader) throws(StartError) -> [UInt8] {
    guard let hash = Hex.decode(try entry.string("sha256")), hash.count == 32 else {
      throw entry.fault("sha256", "must be 64 hexadecimal digits: the SHA-256 of the key")
    }
    return hash
  }

  private func scopes(_ entry: ConfigurationReader) throws(StartError) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for (index, name) in try entry.strings("scopes", isRequired: true).enumerated() {
      guard let scope = Scope(rawValue: name) else {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        throw entry.fault("scopes/\(index)", "\"\(name)\" is no scope; scopes are \(known)")
      }
      scopes.insert(scope)
    }
    return scopes
  }

  /// It is written to logs: a short name.
  private func id(_ entry: ConfigurationReader) throws(StartError) -> String? {
    guard entry.value("id") != nil else { return nil }
    let id = try entry.string("id")
    guard id.utf8.count <= 64, id.utf8.allSatisfy(RelyingPartyReader.nameCharacters.contains) else {
      throw entry.fault("id", "must have at most 64 letters, digits, and - _ .")
    }
    return id
  }

  private func end(_ entry: ConfigurationReader) throws(StartError) -> Timestamp? {
    guard entry.value("expires_at") != nil else { return nil }
    return Timestamp(secondsSince1970: try entry.integer("expires_at", in: Self.times, default: 0))
  }
}

/// Reads `quota` of a relying party.
///
/// ```json
/// { "quota": { "open_sessions": 50000, "bytes": 8589934592, "idempotency_bytes": false } }
/// ```
/// A member that is absent has its default, one that is `false` no bound.
struct QuotaReader {
  static let numbers: ClosedRange<Int64> = 1...(1 << 50)

  func quota(_ party: ConfigurationReader) throws(StartError) -> Quota {
    guard let quota = try party.object("quota", known: ConfigurationTables.quota.names) else { return .standard }
    return Quota(
      openSessions: try number("open_sessions", of: quota, default: Limits.openSessions),
      bytes: try number("bytes", of: quota, default: Limits.storedBytes),
      idempotencyBytes: try number("idempotency_bytes", of: quota, default: Limits.idempotencyBytes))
  }

  private func number(
    _ name: String, of quota: ConfigurationReader, default standard: Int64
  ) throws(StartError) -> Int64? {
    if quota.value(name)?.bool == false { return nil }
    return try quota.integer(name, in: Self.numbers, default: standard)
  }
}
