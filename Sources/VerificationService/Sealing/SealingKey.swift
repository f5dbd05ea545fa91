import Cryptography
import Primitives

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

  /// What a key's file holds: 32 raw bytes, or text, in which white space at the end does not count.
  public static func bytes(in content: [UInt8]) -> [UInt8]? {
    if content.count == length { return content }
    let isSpace: (UInt8) -> Bool = { [0x20, 0x0a, 0x0d, 0x09].contains($0) }
    let end = content.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
    guard let text = String(validating: content[..<end], as: UTF8.self) else { return nil }
    let bytes = text.utf8.count == 2 * length ? Hex.decode(text) : Base64.decodeEither(text)
    return bytes?.count == length ? bytes : nil
  }
}
