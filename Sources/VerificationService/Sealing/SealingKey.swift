import Cryptography

/// An AES-256 key for data at rest, with the id that sealed data name it by.
public final class SealingKey: Sendable {
  public static let length = 32
  public let id: String
  let key: SecretBytes

  public init(id: String, key: consuming SecretBytes) throws(ConfigurationError) {
    guard (1...64).contains(id.utf8.count) else {
      throw ConfigurationError("a sealing key's id has 1 to 64 bytes")
    }
    guard key.count == Self.length else {
      throw ConfigurationError("sealing key \"\(id)\" has not 32 bytes")
    }
    self.id = id
    self.key = key
  }
}
