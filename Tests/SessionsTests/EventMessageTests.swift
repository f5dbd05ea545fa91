import Base
import Cryptography
import Testing

@testable import Sessions

@Suite("A webhook's message")
struct EventMessageTests {
  private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private let time = Timestamp(secondsSince1970: 1_614_265_330)

  /// From the libraries of Standard Webhooks.
  @Test("is signed as the published vector")
  func published() throws {
    let secret = try #require(WebhookSecret(secret))
    let signature = EventMessage.signatures(
      of: Array("{\"test\": 2432232314}".utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: time, by: [secret])
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("has the event's id, the attempt's time, and one signature for each secret")
  func message() throws {
    let texts = [secret, "whsec_" + Base64.encode([UInt8](repeating: 7, count: 64))]
    let secrets = try texts.map { try #require(WebhookSecret($0)) }
    let session = try SessionID.random()
    let event = EventRecord(
      id: EventID(session, .failed), relyingParty: "shop", created: time, errorCode: "trust.issuer_unknown",
      clientReferenceID: "order-17", metadata: [NamedText(name: "desk", value: "4")])
    let message = EventMessage(event, isLive: true, showsMetadata: false, secrets: secrets, at: time + 9)
    let headers = Dictionary(uniqueKeysWithValues: message.headers.map { ($0.name, $0.value) })
    #expect(headers["content-type"] == "application/json")
    #expect(headers["webhook-id"] == event.id.text && headers["webhook-timestamp"] == "1614265339")
    let content = Array("\(event.id.text).1614265339.".utf8) + message.body
    let expected = try texts.map { text in
      "v1," + Base64.encode(try hmac(content, key: #require(Base64.decode(String(text.dropFirst(6))))))
    }
    #expect(headers["webhook-signature"] == expected.joined(separator: " "))
    #expect(
      try JSON(parsing: message.body) == [
        "id": .string("evt_\(session.text.dropFirst(3))_failed"), "object": "event",
        "type": "verification_session.failed", "created": 1_614_265_330, "livemode": true,
        "data": [
          "id": .string(session.text), "object": "verification_session", "status": "failed",
          "client_reference_id": "order-17", "last_error": ["code": "trust.issuer_unknown"],
        ],
      ])
    let whole = EventMessage(event, isLive: true, showsMetadata: true, secrets: secrets, at: time + 9)
    #expect(try JSON(parsing: whole.body)["data"]?["metadata"] == ["desk": "4"])
  }

  /// RFC 2104, 2, written from its text.
  private func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    let inner = HashAlgorithm.sha256.hash(block.map { $0 ^ 0x36 } + message)
    return HashAlgorithm.sha256.hash(block.map { $0 ^ 0x5c } + inner)
  }

  @Test("a secret is whsec_ and the base64 of 24 to 64 bytes")
  func secrets() {
    for count in [24, 32, 64] {
      let text = "whsec_" + Base64.encode([UInt8](repeating: 1, count: count))
      #expect(WebhookSecret(text)?.exposed == text)
    }
    for count in [0, 23, 65] {
      #expect(WebhookSecret("whsec_" + Base64.encode([UInt8](repeating: 1, count: count))) == nil)
    }
    #expect(WebhookSecret(String(secret.dropFirst(6))) == nil && WebhookSecret(secret + "!") == nil)
  }

  @Test("ids are read as they are written, and nothing else is one")
  func identifiers() throws {
    let session = try SessionID.random()
    for type in EventType.allCases {
      let id = EventID(session, type)
      #expect(EventID(id.text) == id)
      for endpoint in ["main", "a_b", "A-1.x", String(repeating: "e", count: 28)] {
        let delivery = DeliveryID(id, to: endpoint)
        #expect(DeliveryID(delivery.text) == delivery)
        #expect(delivery.text.utf8.count <= 64)
      }
    }
    let suffix = String(session.text.dropFirst(3))
    for text in ["", "evt_", "evt_\(suffix)", "evt_\(suffix)_processing", "evt_\(suffix)_", "vs_\(suffix)_verified"] {
      #expect(EventID(text) == nil)
    }
    for text in [
      "whd_\(suffix)_verified", "whd_\(suffix)_verified_", "whd_\(suffix)_verified_a b", "evt_\(suffix)_verified_a",
      "whd_\(suffix)_verified_\(String(repeating: "e", count: 29))",
    ] {
      #expect(DeliveryID(text) == nil)
    }
  }
}
