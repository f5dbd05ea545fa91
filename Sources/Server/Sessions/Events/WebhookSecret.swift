import Base
import Cryptography

/// A symmetric secret of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes.
package final class WebhookSecret: Sendable {
  package static let prefix = "whsec_"
  package static let lengths = 24...64
  private let key: SecretBytes

  /// Nil where it has not that many bytes.
  package init?(_ key: consuming SecretBytes) {
    guard Self.lengths.contains(key.count) else { return nil }
    self.key = key
  }

  /// Nil where the text is no secret of that form.
  package convenience init?(_ text: String) {
    guard let key = SecretBytes(copying: Array(text.utf8)).withUnsafeBytes({ Self.key(in: $0) }) else { return nil }
    self.init(key)
  }

  /// The same of what a file holds, in which white space at the end does not count.
  package convenience init?(content: UnsafeRawBufferPointer) {
    guard let key = Self.key(in: content.withoutTrailingSpace) else { return nil }
    self.init(key)
  }

  private static func key(in text: UnsafeRawBufferPointer) -> SecretBytes? {
    guard text.starts(with: prefix.utf8) else { return nil }
    return SecretBytes.decoding(base64: UnsafeRawBufferPointer(rebasing: text.dropFirst(prefix.utf8.count)))
  }

  /// For whoever made it and must give it to the receiver.
  package var exposed: String { Self.prefix + Base64.encode(key.exposed()) }

  func authenticate(_ content: [UInt8]) -> [UInt8] { HMAC.authenticate(content, key: key, hash: .sha256) }
}
