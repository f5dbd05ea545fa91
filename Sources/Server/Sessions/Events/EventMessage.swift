import Base
import Cryptography

/// An event as it is sent to an endpoint: a message of Standard Webhooks 1.0.0.
///
/// The id is the event's and the same in every attempt, so that a receiver can tell what it has had already; the time
/// is the attempt's, so that it can refuse what somebody repeats later.
package struct EventMessage: Sendable {
  /// `webhook-id`, `webhook-timestamp`, `webhook-signature`, `content-type`.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  package init(_ event: EventRecord, isLive: Bool, secrets: [WebhookSecret], at now: Timestamp) {
    body = EventRendering(isLive: isLive).json(event).serialized()
    headers = [
      ("content-type", "application/json"),
      ("webhook-id", event.id.text),
      ("webhook-timestamp", "\(now.secondsSince1970)"),
      ("webhook-signature", Self.signatures(of: body, id: event.id.text, at: now, by: secrets)),
    ]
  }

  /// `v1,` and the base64 of an HMAC-SHA256 over id, time and body with dots between, once for each secret.
  static func signatures(of body: [UInt8], id: String, at time: Timestamp, by secrets: [WebhookSecret]) -> String {
    let content = Array("\(id).\(time.secondsSince1970).".utf8) + body
    return secrets.map { "v1," + Base64.encode($0.authenticate(content)) }.joined(separator: " ")
  }
}
