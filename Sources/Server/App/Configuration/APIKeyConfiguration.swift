import Base
import Sessions

extension APIKey {
  /// `api_keys` of a relying party. An expired key gets a warning.
  ///
  /// ```json
  /// { "api_keys": [ { "sha256": "…", "scopes": ["sessions:write"], "id": "2026-11", "expires_at": 1796000000 } ] }
  /// ```
  static func configured(
    _ party: Schema.Object, at now: Timestamp, _ warnings: inout [String]
  ) throws(Schema.Fault) -> [APIKey] {
    let entries = try party.objects("api_keys")
    let keys = entries.compactMap(APIKey.init(configured:))
    for (entry, key) in zip(entries, keys) where keys.count == entries.count && !key.isGood(at: now) {
      warnings.append("\(entry.pointer)/expires_at: the key has expired; it can be removed")
    }
    return keys
  }

  /// Nil if a member has a fault. All members are read nevertheless, so that every fault is noted.
  private init?(configured entry: Schema.Object) {
    let hash = entry.attempt(try Self.sha256(entry))
    let scopes = entry.attempt(try Self.scopes(entry))
    let id = entry.attempt(try Self.id(entry))
    let end = entry.attempt(try entry.ifAny("expires_at", entry.number))
    guard let hash, let scopes, let id, let end else { return nil }
    self.init(sha256: hash, scopes: scopes, id: id, expiresAt: end.map(Timestamp.init(secondsSince1970:)))
  }

  private static func sha256(_ entry: Schema.Object) throws(Schema.Fault) -> [UInt8] {
    guard let hash = Hex.decode(try entry.text("sha256")), hash.count == 32 else {
      throw entry.fault("sha256", "must be 64 hexadecimal digits: the SHA-256 of the key")
    }
    return hash
  }

  private static func scopes(_ entry: Schema.Object) throws(Schema.Fault) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for (index, name) in try entry.texts("scopes").enumerated() {
      guard let scope = Scope(rawValue: name) else {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        throw entry.fault("scopes/\(index)", "\"\(name)\" is no scope; scopes are \(known)")
      }
      scopes.insert(scope)
    }
    return scopes
  }

  /// The id is written to logs, so it must be a short name.
  private static func id(_ entry: Schema.Object) throws(Schema.Fault) -> String? {
    guard let id = try entry.ifAny("id", entry.text) else { return nil }
    guard id.utf8.count <= 64, id.utf8.allSatisfy(\.isNameCharacter) else {
      throw entry.fault("id", "must have at most 64 letters, digits, and - _ .")
    }
    return id
  }
}

extension Quota {
  /// `quota` of a relying party. A member that is `false` sets no bound.
  ///
  /// ```json
  /// { "quota": { "open_sessions": 50000, "bytes": 8589934592, "idempotency_bytes": false } }
  /// ```
  init(configured party: Schema.Object) throws(Schema.Fault) {
    guard let quota = try party.object("quota") else {
      self = .standard
      return
    }
    self.init(
      openSessions: try Self.bound("open_sessions", of: quota), bytes: try Self.bound("bytes", of: quota),
      idempotencyBytes: try Self.bound("idempotency_bytes", of: quota))
  }

  private static func bound(_ name: String, of quota: Schema.Object) throws(Schema.Fault) -> Int64? {
    quota.value(name)?.bool == false ? nil : try quota.number(name)
  }
}
