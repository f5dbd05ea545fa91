import Base

/// All relying parties of this server, by id and by API key.
package struct RelyingParties: Sendable {
  package let all: [RelyingParty]
  private let byID: [String: RelyingParty]
  private let byKey: [[UInt8]: (RelyingParty, APIKey)]

  /// Refuses what would let one relying party act as another: an id or a key hash that occurs twice.
  package init(_ parties: [RelyingParty]) throws(ConfigurationError) {
    var byID: [String: RelyingParty] = [:]
    var byKey: [[UInt8]: (RelyingParty, APIKey)] = [:]
    for party in parties {
      guard !party.id.isEmpty, byID.updateValue(party, forKey: party.id) == nil else {
        throw ConfigurationError("the relying party id \"\(party.id)\" is empty or there twice")
      }
      for key in party.apiKeys {
        guard key.sha256.count == 32 else {
          throw ConfigurationError("an API key of \"\(party.id)\" is not the SHA-256 of a key")
        }
        guard byKey.updateValue((party, key), forKey: key.sha256) == nil else {
          throw ConfigurationError("an API key of \"\(party.id)\" occurs twice")
        }
      }
    }
    all = parties
    self.byID = byID
    self.byKey = byKey
  }

  package subscript(id: String) -> RelyingParty? { byID[id] }

  /// The owner of an API key that has not expired. The look-up is by the key's hash: its time tells nothing that helps
  /// to find a key.
  package func owner(ofKey key: String, at now: Timestamp) -> Caller? {
    owner(ofKeyHash: APIKey.hash(of: key), at: now)
  }

  package func owner(ofKeyHash hash: [UInt8], at now: Timestamp) -> Caller? {
    guard let (party, found) = byKey[hash], found.isGood(at: now) else { return nil }
    return .apiKey(party, scopes: found.scopes, id: found.id)
  }

  /// When the next of the keys that are good now expires.
  package func nextKeyExpiry(after now: Timestamp) -> Timestamp? {
    all.flatMap(\.apiKeys).compactMap(\.expiresAt).filter { now < $0 }.min()
  }
}

/// The configuration cannot be served; the message names the member, never a secret.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
