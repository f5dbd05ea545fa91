import Base
import Testing

@testable import Sessions

@Suite("Events")
struct EventTests {
  private typealias Call = (name: String, run: @Sendable (VerificationService, String, Caller) async throws -> Reply)

  private static let calls: [Call] = [
    ("read", { try await $0.event("evt_\($1)_canceled", as: $2) }),
    ("retry", { try await $0.retryWebhookDelivery("whd_\($1)_canceled_main", as: $2) }),
    ("list after", { try await $0.events(query: [QueryItem("starting_after", "evt_\($1)_canceled")], as: $2) }),
    (
      "list deliveries after",
      {
        try await $0.webhookDeliveries(query: [QueryItem("starting_after", "whd_\($1)_canceled_main")], as: $2)
      }
    ),
  ]

  /// A session of the shop that was canceled, with a dead letter to `main`; what follows the prefix of its id.
  private func prepare(_ fixture: Fixture) async throws -> String {
    let (id, _) = try await fixture.create()
    _ = try await fixture.service.cancel(id, as: fixture.full)
    let address = WebhookAddress(relyingParty: "shop", endpoint: "main")
    let now = fixture.clock.now
    _ = try await fixture.store.distributeEvents(
      to: [WebhookSubscription(address: address, types: [.canceled])], at: now, limit: 10)
    let claimed = try await fixture.store.claimDeliveries(
      [DeliveryQuota(address: address, limit: 1)], limit: 1, at: now)
    _ = try await fixture.store.recordDelivery(try #require(claimed.first), .dead(DeliveryFault(.unavailable)))
    return String(id.dropFirst(3))
  }

  @Test("another's event and delivery look unknown: same error, same questions to the store")
  func foreign() async throws {
    let store = RecordingStore()
    let fixture = try Fixture(store: store)
    let suffix = try await prepare(fixture)
    for call in Self.calls {
      var outcomes: [(error: ServiceError?, asked: [String])] = []
      for suffix in [suffix, "0000000000000000000000"] {
        store.forget()
        let error = await #expect(throws: ServiceError.self, "\(call.name)") {
          _ = try await call.run(fixture.service, suffix, fixture.foreign)
        }
        outcomes.append((error, store.asked))
      }
      #expect(outcomes[0].error == outcomes[1].error, "\(call.name)")
      #expect(outcomes[0].asked == outcomes[1].asked && !outcomes[0].asked.isEmpty, "\(call.name)")
    }
    #expect(try await fixture.service.events(as: fixture.foreign).body["data"] == [])
    #expect(try await fixture.service.webhookDeliveries(as: fixture.foreign).body["data"] == [])
    // Its owner has them.
    for call in Self.calls { _ = try await call.run(fixture.service, suffix, fixture.full) }
  }

  @Test("the same retry again, under its key, is the same reply")
  func retriedOnce() async throws {
    let fixture = try Fixture()
    let id = "whd_\(try await prepare(fixture))_canceled_main"
    let request = IdempotencyRequest(key: "k", method: "POST", path: "/retry", body: [])
    let first = try await fixture.service.retryWebhookDelivery(id, as: fixture.full, idempotency: request)
    let second = try await fixture.service.retryWebhookDelivery(id, as: fixture.full, idempotency: request)
    #expect(first.body["status"] == "pending" && !first.isReplay)
    #expect(second.body == first.body && second.isReplay)
  }

  @Test("an event has nothing of what the session was asked for, nor its metadata unless the configuration says so")
  func nothingPersonal() async throws {
    let fixture = try Fixture()
    _ = try await prepare(fixture)
    let text = try await fixture.service.events(as: fixture.full).body.text()
    #expect(!text.contains("documents") && !text.contains("metadata") && !text.contains(Fixture.personal))
  }
}
