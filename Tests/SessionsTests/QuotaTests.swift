import Base
import TestStores
import Testing

@testable import Sessions

@Suite("A relying party has its quota of the store")
struct QuotaTests {
  private func fixture(
    open: Int64? = nil, bytes: Int64? = nil, replies: Int64? = nil, store: any SessionStore = InMemoryStore()
  ) throws -> Fixture {
    try Fixture(store: store, quota: Quota(openSessions: open, bytes: bytes, idempotencyBytes: replies))
  }

  private func create(_ fixture: Fixture, key: String? = nil) async throws -> String {
    let idempotency = key.map { IdempotencyRequest(key: $0, method: "POST", path: "/create", body: []) }
    let body = try await fixture.service.createSession(Fixture.creation, as: fixture.full, idempotency: idempotency)
      .body
    return try #require(body["id"]?.string)
  }

  @Test("of open sessions: one more is refused, and what ends makes room")
  func openSessions() async throws {
    let fixture = try fixture(open: 3)
    var ids: [String] = []
    for _ in 0..<3 { ids.append(try await create(fixture)) }
    do {
      _ = try await create(fixture)
      Issue.record("created")
    } catch let error as ServiceError {
      #expect(error.code == .apiQuotaExceeded && error.httpStatus == 429 && error.retryAfter == 60)
    }
    // Another relying party's sessions are not counted, and a response to an existing session is never refused.
    _ = try await fixture.service.createSession(Fixture.creation, as: fixture.foreign)
    #expect(
      try await fixture.service.submit(Fixture.response("good"), to: ids[0], as: fixture.full).body.status == "verified"
    )
    ids.append(try await create(fixture))
    #expect(await code { _ = try await create(fixture) } == .apiQuotaExceeded)
    _ = try await fixture.service.cancel(ids[1], as: fixture.full)
    _ = try await create(fixture)
    #expect(await code { _ = try await create(fixture) } == .apiQuotaExceeded)
    // Time makes room as well.
    fixture.clock.advance(600)
    _ = try await create(fixture)
  }

  @Test("of bytes: until something is redacted")
  func bytes() async throws {
    let fixture = try fixture(bytes: 3_000)
    var ids: [String] = []
    while ids.count < 20, let id = try? await create(fixture) { ids.append(id) }
    #expect((2..<10).contains(ids.count))
    #expect(await code { _ = try await create(fixture) } == .apiQuotaExceeded)
    #expect(
      try await fixture.service.submit(Fixture.response("good"), to: ids[0], as: fixture.full).body.status == "verified"
    )
    for id in ids { _ = try await fixture.service.redact(id, as: fixture.full) }
    fixture.clock.advance(1)
    _ = try await create(fixture)
  }

  @Test("of kept replies: they refuse other requests with a key, but no response")
  func replies() async throws {
    let fixture = try fixture(replies: 3_000)
    let id = try await create(fixture)
    var count = 0
    while count < 20, (try? await create(fixture, key: "\(count)")) != nil { count += 1 }
    #expect((1..<10).contains(count))
    #expect(await code { _ = try await create(fixture, key: "new") } == .apiQuotaExceeded)
    _ = try await create(fixture)
    let submit = IdempotencyRequest(key: "answer", method: "POST", path: "/submit", body: [])
    for isReplay in [false, true] {
      let reply = try await fixture.service.submit(
        Fixture.response("good"), to: id, as: fixture.full, idempotency: submit)
      #expect(reply.body.status == "verified" && reply.isReplay == isReplay)
    }
    // Refusals are not kept meanwhile: the same key is free again.
    let again = IdempotencyRequest(key: "again", method: "POST", path: "/submit", body: [])
    for _ in 0..<2 {
      #expect(
        await code {
          _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full, idempotency: again)
        } == .sessionAlreadyUsed)
    }
    fixture.clock.advance(Limits.idempotencyLifetime)
    try await fixture.service.sweep()
    _ = try await create(fixture, key: "later")
  }

  @Test("a refusal for the quota is not kept under its key")
  func refusal() async throws {
    let fixture = try fixture(open: 1)
    let id = try await create(fixture)
    #expect(await code { _ = try await create(fixture, key: "k") } == .apiQuotaExceeded)
    _ = try await fixture.service.cancel(id, as: fixture.full)
    _ = try await create(fixture, key: "k")
  }

  @Test("of two processes each knows what the other has created with its next count")
  func nodes() async throws {
    let store = InMemoryStore()
    let (first, second) = (try fixture(open: 4, store: store), try fixture(open: 4, store: store))
    for _ in 0..<3 { _ = try await create(first) }
    _ = try await create(second)
    await second.service.measureUsage()
    #expect(await code { _ = try await create(second) } == .apiQuotaExceeded)
    // Without a new count, the first server still assumes three.
    _ = try await create(first)
    first.clock.advance(10)
    await first.service.measureUsage()
    #expect(await code { _ = try await create(first) } == .apiQuotaExceeded)
  }

  @Test("a count is taken only where something was done, and not more often than every ten seconds")
  func counts() async throws {
    let store = RecordingStore()
    let fixture = try fixture(open: 100, store: store)
    func counted() async -> Int {
      store.forget()
      await fixture.service.measureUsage()
      return store.asked.count { $0.hasPrefix("usage") }
    }
    #expect(await counted() == 0)
    _ = try await create(fixture)
    #expect(await counted() == 1)
    _ = try await create(fixture)
    #expect(await counted() == 0)
    fixture.clock.advance(10)
    #expect(await counted() == 1)
    fixture.clock.advance(10)
    #expect(await counted() == 0)
  }
}
