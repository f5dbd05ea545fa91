import Base
import Trust

/// Where a relying party wants to be told of events, and the secrets by which it knows that it is us who tells.
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
