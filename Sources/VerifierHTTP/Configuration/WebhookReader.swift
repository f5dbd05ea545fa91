import Primitives
import Trust
import VerificationService

/// Reads `webhooks` of a relying party: where it is told of events.
///
/// ```json
/// { "webhooks": [ { "id": "main", "url": "https://shop.example/hooks", "secrets": [ { "file": "keys/hook.secret" } ],
///                   "events": ["verification_session.verified"] } ] }
/// ```
/// A secret, in a file or a variable, is one text, `whsec_` and the base64 of 24 to 64 bytes. Each secret signs; without `events` all
/// types are told.
struct WebhookReader {
  private static let member = "webhooks"

  let secrets: SecretReader

  func webhooks(_ party: ConfigurationReader) throws(StartError) -> [WebhookEndpoint] {
    var endpoints: [WebhookEndpoint] = []
    for entry in try party.objects(Self.member, isRequired: false, known: ConfigurationTables.webhook.names) {
      let id = try id(entry)
      guard !endpoints.contains(where: { $0.id == id }) else { throw entry.fault("id", "\"\(id)\" is there twice") }
      endpoints.append(
        WebhookEndpoint(
          id: id, url: try url(entry), secrets: try secrets(entry), types: try types(entry)))
    }
    guard endpoints.count <= Limits.webhooks else {
      throw party.fault(Self.member, "may have \(Limits.webhooks) at most")
    }
    return endpoints
  }

  private func id(_ entry: ConfigurationReader) throws(StartError) -> String {
    let id = try entry.string("id")
    guard WebhookEndpoint.isID(id) else {
      throw entry.fault(
        "id", "must have at most \(Limits.webhookIDCharacters) letters, digits, and - _ .")
    }
    return id
  }

  /// As far as it can be judged without asking for the name.
  private func url(_ entry: ConfigurationReader) throws(StartError) -> String {
    let url = try entry.string("url")
    do throws(FetchError) {
      _ = try ListAddress(url, allowing: DeliveryAttempt.rules(isLive: true))
      return url
    } catch {
      guard case .notAllowed(let reason) = error else { throw entry.fault("url", "is no address") }
      throw entry.fault("url", reason)
    }
  }

  private func secrets(_ entry: ConfigurationReader) throws(StartError) -> [WebhookSecret] {
    guard let list = try entry.required("secrets").array, (1...Limits.webhookSecrets).contains(list.count) else {
      throw entry.fault("secrets", "must be a list of 1 to \(Limits.webhookSecrets) secrets")
    }
    var secrets: [WebhookSecret] = []
    for (index, json) in list.enumerated() {
      let source = try self.secrets.secret(json, at: "\(entry.pointer)/secrets/\(index)")
      guard let secret = Self.secret(source.bytes.exposed()) else {
        throw entry.fault("secrets/\(index)", "\(source.name) is not whsec_ and the base64 of 24 to 64 bytes")
      }
      secrets.append(secret)
    }
    return secrets
  }

  /// White space at the end does not count.
  static func secret(_ content: [UInt8]) -> WebhookSecret? {
    let end = content.lastIndex { ![0x20, 0x0a, 0x0d, 0x09].contains($0) }.map { $0 + 1 } ?? 0
    return String(validating: content[..<end], as: UTF8.self).flatMap(WebhookSecret.init)
  }

  private func types(_ entry: ConfigurationReader) throws(StartError) -> Set<EventType> {
    guard entry.value("events") != nil else { return Set(EventType.allCases) }
    var types: Set<EventType> = []
    for (index, name) in try entry.strings("events", isRequired: true).enumerated() {
      guard let type = EventType(rawValue: name) else {
        let known = EventType.allCases.map(\.rawValue).joined(separator: ", ")
        throw entry.fault("events/\(index)", "must be one of \(known)")
      }
      types.insert(type)
    }
    return types
  }
}
