import Base
import Testing

@testable import Sessions

@Suite("A store that fails")
struct BrokenStoreTests {
  @Test("in the outcome: an error, no result, and the session reads as interrupted")
  func outcome() async throws {
    let store = RecordingStore(failsOutcomes: true)
    let fixture = try Fixture(store: store)
    let (id, _) = try await fixture.create()
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full)
    }
    #expect(error?.code == .apiStoreUnavailable && error?.retryAfter != nil)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "processing")
    fixture.clock.advance(31)
    let body = try await fixture.service.session(id, as: fixture.full).body
    #expect(body.status == "failed" && body["last_error"]?["code"] == "session.interrupted")
  }
}
