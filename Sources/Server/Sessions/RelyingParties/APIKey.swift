import Base
import Cryptography

/// An API key as the configuration holds it: never the key, only its SHA-256.
///
/// A relying party may have several: to rotate one, the new key is added, the old one gets an end, and both are good
/// until then.
package struct APIKey: Sendable, Hashable {
  package let sha256: [UInt8]
  package let scopes: Set<Scope>
  /// What logs call it.
  package let id: String?
  /// From when on it is answered like a key that nobody knows; nil: never.
  package let expiresAt: Timestamp?

  package init(sha256: [UInt8], scopes: Set<Scope>, id: String? = nil, expiresAt: Timestamp? = nil) {
    self.sha256 = sha256
    self.scopes = scopes
    self.id = id
    self.expiresAt = expiresAt
  }

  /// The hash by which a presented key is looked up.
  package static func hash(of key: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(key.utf8)) }

  package func isGood(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}
