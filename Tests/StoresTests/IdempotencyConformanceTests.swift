import Base
import Testing

@testable import Sessions

@Suite("Every store keeps replies under their keys")
struct IdempotencyConformanceTests {
  private func claim(
    _ key: String = "k", body: String = "{}", of relyingParty: String = "shop", path: String = "/v1/x"
  ) throws -> IdempotencyClaim {
    try IdempotencyClaim(
      IdempotencyRequest(key: key, method: "POST", path: path, body: Array(body.utf8)), of: relyingParty)
  }

  @Test("a key is in progress, then finished, then forgotten", arguments: StoreFactory.allCases)
  func life(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let first = try claim()
      #expect(try await store.beginIdempotent(first, at: start).isStarted)
      #expect(try await store.beginIdempotent(try claim(), at: start).isInProgress)
      #expect(try await store.beginIdempotent(try claim(body: "[]"), at: start).isBodyDifferent)
      let reply = StoredReply(session: nil, body: [1], result: [2], resultExpiresAt: start + 600)
      try await store.finishIdempotent(IdempotencyCompletion(claim: first, reply: reply))
      #expect(try await store.beginIdempotent(try claim(), at: start + 86_399).reply == reply)
      #expect(try await store.beginIdempotent(try claim(body: "[]"), at: start).isBodyDifferent)
      #expect(try await store.beginIdempotent(try claim(body: "[]"), at: start + 86_400).isStarted)
    }
  }

  @Test("keys belong to relying party and path", arguments: StoreFactory.allCases)
  func scope(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      for claim in [try claim(), try claim(of: "other"), try claim(path: "/v1/y")] {
        #expect(try await store.beginIdempotent(claim, at: start).isStarted)
      }
    }
  }

  @Test("of 50 parallel claims one starts (S12)", arguments: StoreFactory.allCases)
  func parallel(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let started = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<50 {
          let claim = try claim()
          group.addTask { try await store.beginIdempotent(claim, at: start).isStarted }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(started == 1)
    }
  }

  @Test("a released key is free, an abandoned one can be taken over once", arguments: StoreFactory.allCases)
  func release(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let first = try claim()
      _ = try await store.beginIdempotent(first, at: start)
      try await store.releaseIdempotent(first)
      let second = try claim()
      #expect(try await store.beginIdempotent(second, at: start).isStarted)
      #expect(try await store.beginIdempotent(try claim(), at: start + 59).isInProgress)
      let third = try claim()
      #expect(try await store.beginIdempotent(third, at: start + 60).isStarted)
      // The request that lost its claim changes nothing.
      try await store.finishIdempotent(
        IdempotencyCompletion(claim: second, reply: StoredReply(session: nil, body: [1])))
      try await store.releaseIdempotent(second)
      #expect(try await store.beginIdempotent(try claim(), at: start + 61).isInProgress)
    }
  }

  @Test("a session and the reply to its creation are one; redaction erases both", arguments: StoreFactory.allCases)
  func creation(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let first = try claim()
      _ = try await store.beginIdempotent(first, at: start)
      let session = try makeSession()
      let reply = StoredReply(session: session.address.id, body: [1])
      try await store.create(session, finishing: IdempotencyCompletion(claim: first, reply: reply))
      #expect(try await store.beginIdempotent(try claim(), at: start).reply == reply)
      // Its caller does not know of the commit, and releases a key whose reply exists.
      try await store.releaseIdempotent(first)
      #expect(try await store.beginIdempotent(try claim(), at: start).reply == reply)
      _ = try await store.redact(session.address, at: start)
      let erased = StoredReply(session: session.address.id, body: nil)
      #expect(try await store.beginIdempotent(try claim(), at: start).reply == erased)
    }
  }

  @Test("a reply that comes after the redaction of its session keeps nothing of it", arguments: StoreFactory.allCases)
  func late(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let first = try claim()
      _ = try await store.beginIdempotent(first, at: start)
      let session = try await store.add(makeSession())
      _ = try await store.redact(session.address, at: start)
      let reply = StoredReply(session: session.address.id, body: [1], result: [2], resultExpiresAt: start + 600)
      try await store.finishIdempotent(IdempotencyCompletion(claim: first, reply: reply))
      let erased = StoredReply(session: session.address.id, body: nil)
      #expect(try await store.beginIdempotent(try claim(), at: start).reply == erased)
    }
  }

  @Test("a kept result goes with its time, and the key after a day", arguments: StoreFactory.allCases)
  func sweep(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let first = try claim()
      _ = try await store.beginIdempotent(first, at: start)
      try await store.finishIdempotent(
        IdempotencyCompletion(
          claim: first, reply: StoredReply(session: nil, body: [1], result: [2], resultExpiresAt: start + 600)))
      _ = try await store.sweep(at: start + 600, limit: 10)
      let reply = try #require(try await store.beginIdempotent(try claim(), at: start + 600).reply)
      #expect(reply.body == [1] && reply.result == nil)
      #expect(try await store.sweep(at: start + 86_400, limit: 10).idempotencyKeysDeleted == 1)
    }
  }
}

extension IdempotencyStart {
  var isStarted: Bool { if case .started = self { true } else { false } }
  var isInProgress: Bool { if case .inProgress = self { true } else { false } }
  var isBodyDifferent: Bool { if case .bodyDiffers = self { true } else { false } }
  var reply: StoredReply? { if case .finished(let reply) = self { reply } else { nil } }
}
