import Base
import Cryptography
import Trust

/// Where a relying party wants to be told of events, and the secrets that prove to it that the messages are ours.
package struct WebhookEndpoint: Sendable {
  /// One of at most `Limits.webhookIDCharacters` letters, digits, `-`, `.` and `_`, unique within the relying party. It is
  /// stored with deliveries: with another id it is another endpoint.
  package let id: String
  package let url: String
  /// Every message is signed with each of them: the current one, and while receivers change over, the one before.
  package let secrets: [WebhookSecret]
  package let types: Set<EventType>
  /// Where it may be reached beside public hosts on port 443.
  package let targets: InternalTargets

  package init(
    id: String, url: String, secrets: [WebhookSecret], types: Set<EventType> = Set(EventType.allCases),
    targets: InternalTargets = .none
  ) {
    self.id = id
    self.url = url
    self.secrets = secrets
    self.types = types
    self.targets = targets
  }

  /// Part of a delivery's id, which is part of an address.
  package static func isID(_ text: some StringProtocol) -> Bool {
    let allowed = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)
    return (1...Limits.webhookIDCharacters).contains(text.utf8.count) && text.utf8.allSatisfy(allowed.contains)
  }
}

extension RelyingParty {
  package func subscription(of endpoint: WebhookEndpoint) -> WebhookSubscription {
    WebhookSubscription(
      address: WebhookAddress(relyingParty: id, endpoint: endpoint.id), types: endpoint.types)
  }
}

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
