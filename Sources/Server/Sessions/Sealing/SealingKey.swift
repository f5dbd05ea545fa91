import Base
import Cryptography

/// An AES-256 key for data at rest, with the id that sealed data name it by.
package final class SealingKey: Sendable {
  package static let length = 32
  package let id: String
  let key: SecretBytes

  package init(id: String, key: consuming SecretBytes) throws(ConfigurationError) {
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
  package static func secret(in content: UnsafeRawBufferPointer) -> SecretBytes? {
    if content.count == length { return SecretBytes(copying: content) }
    let text = content.withoutTrailingSpace
    let decoded =
      if text.count == 2 * length {
        SecretBytes.decoding(hex: text)
      } else if let bytes = SecretBytes.decoding(base64: text) {
        bytes
      } else {
        SecretBytes.decoding(base64URLSafe: text)
      }
    guard let bytes = decoded, bytes.count == length else { return nil }
    return bytes
  }
}

extension UnsafeRawBufferPointer {
  /// What editors and shells leave at the end of a text does not count.
  var withoutTrailingSpace: UnsafeRawBufferPointer {
    let end = lastIndex { ![0x20, 0x0a, 0x0d, 0x09].contains($0) }.map { $0 + 1 } ?? 0
    return UnsafeRawBufferPointer(rebasing: self[..<end])
  }
}
