/// All relying parties of this server, by id and by API key.
public struct RelyingParties: Sendable {
  public let all: [RelyingParty]
  private let byID: [String: RelyingParty]
  private let byKey: [[UInt8]: (RelyingParty, Set<Scope>)]

  /// Refuses what would let one relying party act as another: an id or a key hash that occurs twice.
  public init(_ parties: [RelyingParty]) throws(ConfigurationError) {
    var byID: [String: RelyingParty] = [:]
    var byKey: [[UInt8]: (RelyingParty, Set<Scope>)] = [:]
    for party in parties {
      guard !party.id.isEmpty, byID.updateValue(party, forKey: party.id) == nil else {
        throw ConfigurationError("relying party ids are not empty and occur once: \"\(party.id)\"")
      }
      for key in party.apiKeys {
        guard key.sha256.count == 32 else {
          throw ConfigurationError("an API key of \"\(party.id)\" is not the SHA-256 of a key")
        }
        guard byKey.updateValue((party, key.scopes), forKey: key.sha256) == nil else {
          throw ConfigurationError("an API key of \"\(party.id)\" occurs twice")
        }
      }
    }
    all = parties
    self.byID = byID
    self.byKey = byKey
  }

  public subscript(id: String) -> RelyingParty? { byID[id] }

  /// The owner of an API key. The look-up is by the key's hash: its time tells nothing that helps to find a key.
  public func owner(ofKey key: String) -> Caller? {
    byKey[APIKey.hash(of: key)].map { party, scopes in .apiKey(party, scopes: scopes) }
  }
}

/// The configuration cannot be served; the message names the member, never a secret.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  public let message: String

  public init(_ message: String) { self.message = message }

  public var description: String { message }
}
