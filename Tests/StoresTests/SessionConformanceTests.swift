import Primitives
import Testing
import VerificationService

@Suite("Every store keeps sessions")
struct SessionConformanceTests {
  @Test("what is created is found again, whole and in order", arguments: StoreFactory.allCases)
  func created(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(protocols: ["org-iso-mdoc", "openid4vp-v1-signed"]))
      #expect(try await store.session(session.address) == session)
      let hash = try #require(session.clientSecretHash)
      #expect(try await store.session(clientSecretHash: hash) == session)
      #expect(try await store.session(clientSecretHash: [1]) == nil)
    }
  }

  @Test("another relying party's session answers as an unknown one (S05)", arguments: StoreFactory.allCases)
  func foreign(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let foreign = SessionAddress(relyingParty: "other", id: session.address.id)
      #expect(try await store.session(foreign) == nil)
      #expect(try await store.refusal(foreign) == .notFound)
      #expect(try await store.cancel(foreign, at: start).isNotFound)
      #expect(try await store.redact(foreign, at: start).isNotFound)
      #expect(try await store.sessions(of: "other", SessionQuery(), at: start)?.sessions.isEmpty == true)
      #expect(
        try await store.sessions(of: "other", SessionQuery(startingAfter: session.address.id), at: start) == nil)
      let unknown = SessionAddress(relyingParty: "shop", id: try SessionID.random())
      #expect(try await store.refusal(unknown) == .notFound)
    }
  }

  @Test("a challenge is consumed once, and its material goes with it (S01)", arguments: StoreFactory.allCases)
  func consumedOnce(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try AttemptID.random()
      let first = try await store.consume(
        session.address, protocolName: "apple-in-app", attempt: attempt, at: start + 5)
      guard case .consumed(let record) = first else {
        Issue.record("not consumed")
        return
      }
      #expect(record.state == .processing(.init(id: attempt, protocolName: "apple-in-app", startedAt: start + 5)))
      #expect(record.offers == session.offers)
      #expect(try await store.refusal(session.address) == .alreadyUsed)
      let stored = try #require(try await store.session(session.address))
      #expect(stored.state == record.state)
      #expect(stored.offers.allSatisfy { $0.sealedMaterial == nil })
    }
  }

  @Test("consuming one protocol consumes all", arguments: StoreFactory.allCases)
  func consumedForAll(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(protocols: ["org-iso-mdoc", "openid4vp-v1-signed"]))
      #expect(try await store.refusal(session.address, "org-iso-mdoc") == nil)
      #expect(try await store.refusal(session.address, "openid4vp-v1-signed") == .alreadyUsed)
    }
  }

  @Test("a protocol that was not offered consumes nothing (A18)", arguments: StoreFactory.allCases)
  func mismatch(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      #expect(try await store.refusal(session.address, "org-iso-mdoc") == .protocolMismatch)
      #expect(try await store.refusal(session.address) == nil)
    }
  }

  @Test("of 50 parallel answers one wins (S02)", arguments: StoreFactory.allCases)
  func parallel(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let refusals = try await withThrowingTaskGroup(of: ConsumeRefusal?.self) { group in
        for _ in 0..<50 { group.addTask { try await store.refusal(session.address) } }
        return try await group.reduce(into: [ConsumeRefusal?]()) { $0.append($1) }
      }
      #expect(refusals.count { $0 == nil } == 1)
      #expect(refusals.count { $0 == .alreadyUsed } == 49)
    }
  }

  @Test("a session expires at the very second (S04)", arguments: StoreFactory.allCases)
  func expiry(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(lifetime: 600))
      #expect(try await store.refusal(session.address, at: start + 600) == .expired)
      #expect(try await store.cancel(session.address, at: start + 600).refused != nil)
      #expect(try await store.refusal(session.address, at: start + 599) == nil)
    }
  }

  @Test("a canceled session takes no answer, and its secret is dead (S08)", arguments: StoreFactory.allCases)
  func canceled(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let record = try #require(try await store.cancel(session.address, at: start + 1).changed)
      #expect(record.state == .canceled(at: start + 1))
      #expect(record.offers.allSatisfy { $0.sealedMaterial == nil })
      #expect(try await store.refusal(session.address) == .canceled)
      #expect(try await store.session(clientSecretHash: try #require(session.clientSecretHash)) == nil)
      #expect(try await store.cancel(session.address, at: start + 2).refused?.state == .canceled(at: start + 1))
      let used = try await store.add(makeSession())
      _ = try await store.take(used)
      #expect(try await store.cancel(used.address, at: start).refused != nil)
    }
  }

  @Test("pages run from the newest to the oldest", arguments: StoreFactory.allCases)
  func pages(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      var ids: [SessionID] = []
      for _ in 0..<5 { ids.insert(try await store.add(makeSession()).address.id, at: 0) }
      _ = try await store.add(makeSession(of: "other"))
      let first = try #require(try await store.sessions(of: "shop", SessionQuery(limit: 2), at: start))
      #expect(first.sessions.map(\.address.id) == Array(ids[0..<2]))
      #expect(first.hasMore)
      let last = try #require(
        try await store.sessions(of: "shop", SessionQuery(limit: 3, startingAfter: ids[1]), at: start))
      #expect(last.sessions.map(\.address.id) == Array(ids[2..<5]))
      #expect(!last.hasMore)
    }
  }

  @Test("the status filter judges by the time of the question", arguments: StoreFactory.allCases)
  func filter(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let open = try await store.add(makeSession(lifetime: 3000))
      let expiring = try await store.add(makeSession(lifetime: 30))
      let taken = try await store.add(makeSession(lifetime: 3000))
      _ = try await store.take(taken)
      func ids(_ status: SessionStatus, _ now: Timestamp) async throws -> [SessionID] {
        try await store.sessions(of: "shop", SessionQuery(status: status), at: now)?.sessions.map(\.address.id) ?? []
      }
      #expect(try await ids(.requiresInput, start) == [expiring.address.id, open.address.id])
      #expect(try await ids(.processing, start + 30) == [taken.address.id])
      #expect(try await ids(.failed, start + 30).isEmpty)
      #expect(try await ids(.requiresInput, start + 31) == [open.address.id])
      #expect(try await ids(.expired, start + 31) == [expiring.address.id])
      #expect(try await ids(.failed, start + 31) == [taken.address.id])
      #expect(try await ids(.verified, start + 31).isEmpty)
    }
  }

  @Test("a closed store says so", arguments: StoreFactory.allCases)
  func closed(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      try await store.probe()
      await store.close()
      await #expect(throws: StoreError.closed) { try await store.session(session.address) }
      await #expect(throws: StoreError.closed) { try await store.create(makeSession(), finishing: nil) }
      await #expect(throws: StoreError.closed) { try await store.probe() }
      await store.close()
    }
  }
}

extension Transition {
  var isNotFound: Bool { if case .notFound = self { true } else { false } }
}
