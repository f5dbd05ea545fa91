import Base
import Testing

@testable import Sessions

/// Codes that no ordinary flow reaches.
@Suite("Codes of rare states")
struct RemainingCodeTests {
  @Test("what has ended otherwise cannot be canceled")
  func wrongState() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    #expect(
      try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body.status == "verified")
    #expect(await code { _ = try await fixture.service.cancel(id, as: fixture.full) } == .sessionWrongState)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "verified")
  }

  @Test("a request that still runs under its key is not run again (S12)")
  func inProgress() async throws {
    let fixture = try Fixture()
    let request = IdempotencyRequest(
      key: "k", method: "POST", path: "/v1/verification_sessions", body: Fixture.creation.serialized())
    _ = try await fixture.store.beginIdempotent(IdempotencyClaim(request, of: "shop"), at: fixture.clock.now)
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.createSession(Fixture.creation, as: fixture.full, idempotency: request)
    }
    #expect(error?.code == .apiIdempotencyInProgress && error?.retryAfter != nil)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"] == [])
  }

  @Test("a result that no configured key opens is an internal fault, and shows nothing")
  func unreadableResult() async throws {
    let first = try Fixture()
    let (id, holder) = try await first.create()
    _ = try await first.service.submit(Fixture.response("good"), to: id, as: holder)
    let second = try Fixture(store: first.store, sealingKey: 8)
    #expect(
      await code {
        _ = try await second.service.session(id, query: [QueryItem("expand[]", "result")], as: second.full)
      } == .apiInternal)
  }
}
