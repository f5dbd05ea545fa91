import Base
import TestStores
import Testing

@testable import Sessions

/// A wallet that declines in an app or page, which reports it to the server.
@Suite struct CancelReasonTests {
  @Test(arguments: [
    (CancelReason.declined, "wallet.access_denied"), (.unavailable, "wallet.unavailable"),
    (.failed, "wallet.other_error"),
  ])
  func `is recorded like a web wallet's error`(reason: CancelReason, name: String) async throws {
    let store = InMemoryStore(mode: .test)
    let fixture = try Fixture(store: store)
    let (id, holder) = try await fixture.create()
    let body: JSON = ["reason": .string(reason.rawValue)]
    let view = try await fixture.service.cancel(id, body, as: holder).body
    #expect(view.object?.map(\.name) == ["id", "status", "expires_at", "requests", "last_error"])
    #expect(view.status == "canceled" && view["last_error"] == ["code": .string(name)])
    // The page may still read the outcome.
    #expect(try await fixture.service.session(id, as: holder).body == view)
    let event = try await fixture.service.events(as: fixture.full).body["data"]?.array?.first
    #expect(event?["type"] == "verification_session.canceled")
    let entries = try await store.auditEntries(of: .standard, after: 0, limit: 10).links
    #expect(entries.count == 1)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) }
        == .sessionCanceled)
  }

  @Test func `an API key may report it too, and sees the session`() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.cancel(id, ["reason": "declined"], as: fixture.full).body
    #expect(body["object"] == "verification_session" && body["last_error"]?["code"] == "wallet.access_denied")
  }

  @Test func `without a reason a client secret ends nothing`() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    #expect(await code { _ = try await fixture.service.cancel(id, as: holder) } == .apiForbidden)
    #expect(try await fixture.service.session(id, as: holder).body.status == "requires_input")
    // As before, with an API key: without a wallet's words.
    let body = try await fixture.service.cancel(id, as: fixture.full).body
    #expect(body.status == "canceled" && body["last_error"] == .null)
  }

  @Test func `a client secret ends no session but its own`() async throws {
    let fixture = try Fixture()
    let (_, holder) = try await fixture.create()
    let (other, _) = try await fixture.create()
    let body: JSON = ["reason": "declined"]
    #expect(await code { _ = try await fixture.service.cancel(other, body, as: holder) } == .sessionNotFound)
    #expect(
      await code { _ = try await fixture.service.cancel(other, body, as: fixture.foreign) } == .sessionNotFound)
  }

  @Test func `what has ended stays as it ended`() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full)
    let body: JSON = ["reason": "failed"]
    #expect(await code { _ = try await fixture.service.cancel(id, body, as: holder) } == .sessionWrongState)
    let (late, lateHolder) = try await fixture.create()
    fixture.clock.advance(601)
    #expect(await code { _ = try await fixture.service.cancel(late, body, as: lateHolder) } == .sessionExpired)
  }

  @Test(arguments: [["reason": "bored"], ["reason": 1], ["because": "declined"]] as [JSON])
  func `another reason is refused, and consumes nothing`(body: JSON) async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    await #expect(throws: ServiceError.self) { try await fixture.service.cancel(id, body, as: holder) }
    #expect(try await fixture.service.session(id, as: holder).body.status == "requires_input")
  }
}
