import Base
import Mdoc
import Testing

@testable import Sessions

@Suite("Every store keeps sessions")
struct SessionConformanceTests {
  @Test("what is created is found again, whole and in order", arguments: StoreFactory.allCases)
  func created(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(protocols: ["org-iso-mdoc", "openid4vp-v1-signed"]))
      #expect(try await store.session(session.address) == session)
      let hash = try #require(session.clientSecretHash)
      let id = session.address.id
      #expect(try await store.session(id, clientSecretHash: hash) == session)
      #expect(try await store.session(id, clientSecretHash: [1]) == nil)
      #expect(try await store.session(try SessionID.random(), clientSecretHash: hash) == nil)
      #expect(try await store.session(nil, clientSecretHash: hash) == nil)
    }
  }

  @Test("another relying party's session answers as an unknown one (S05)", arguments: StoreFactory.allCases)
  func foreign(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let foreign = SessionAddress(relyingParty: "other", id: session.address.id)
      #expect(try await store.session(foreign) == nil)
      #expect(try await store.exists(session.address))
      #expect(try await !store.exists(foreign))
      #expect(try await store.refusal(foreign) == .sessionNotFound)
      #expect(try await store.cancel(foreign, at: start).isNotFound)
      #expect(try await store.redact(foreign, at: start).isNotFound)
      #expect(try await store.sessions(of: "other", SessionQuery(), at: start)?.entries.isEmpty == true)
      #expect(
        try await store.sessions(of: "other", SessionQuery(startingAfter: session.address.id), at: start) == nil)
      let unknown = SessionAddress(relyingParty: "shop", id: try SessionID.random())
      #expect(try await store.refusal(unknown) == .sessionNotFound)
      #expect(try await !store.exists(unknown))
    }
  }

  @Test("of many sessions it tells which have not ended, by time too", arguments: StoreFactory.allCases)
  func unended(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let open = try await store.add(makeSession())
      let consumed = try await store.add(makeSession())
      let canceled = try await store.add(makeSession())
      _ = try await store.consume(
        consumed.address, protocolName: "apple-in-app", attempt: .random(), at: start)
      _ = try await store.cancel(canceled.address, at: start)
      let ids = [open.address.id, consumed.address.id, canceled.address.id, try SessionID.random()]
      func unended(at now: Timestamp) async throws -> Set<SessionID> { try await store.unended(among: ids, at: now) }
      let timeout = Limits.processingTimeout
      #expect(try await unended(at: start + timeout) == [open.address.id, consumed.address.id])
      #expect(try await unended(at: start + timeout + 1) == [open.address.id])
      #expect(try await unended(at: open.expiresAt).isEmpty)
      #expect(try await store.unended(among: [], at: start).isEmpty)
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
      #expect(try await store.refusal(session.address) == .sessionAlreadyUsed)
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
      #expect(try await store.refusal(session.address, "openid4vp-v1-signed") == .sessionAlreadyUsed)
    }
  }

  @Test("a protocol that was not offered consumes nothing (A18)", arguments: StoreFactory.allCases)
  func mismatch(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      #expect(try await store.refusal(session.address, "org-iso-mdoc") == .sessionProtocolMismatch)
      #expect(try await store.refusal(session.address) == nil)
    }
  }

  @Test("of 50 parallel answers one wins (S02)", arguments: StoreFactory.allCases)
  func parallel(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let refusals = try await withThrowingTaskGroup(of: Code?.self) { group in
        for _ in 0..<50 { group.addTask { try await store.refusal(session.address) } }
        return try await group.reduce(into: [Code?]()) { $0.append($1) }
      }
      #expect(refusals.count { $0 == nil } == 1)
      #expect(refusals.count { $0 == .sessionAlreadyUsed } == 49)
    }
  }

  @Test("a session expires at the very second (S04)", arguments: StoreFactory.allCases)
  func expiry(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(lifetime: 600))
      #expect(try await store.refusal(session.address, at: start + 600) == .sessionExpired)
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
      #expect(try await store.refusal(session.address) == .sessionCanceled)
      let hash = try #require(session.clientSecretHash)
      #expect(try await store.session(session.address.id, clientSecretHash: hash) == nil)
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
      #expect(first.entries.map(\.address.id) == Array(ids[0..<2]))
      #expect(first.hasMore)
      let last = try #require(
        try await store.sessions(of: "shop", SessionQuery(limit: 3, startingAfter: ids[1]), at: start))
      #expect(last.entries.map(\.address.id) == Array(ids[2..<5]))
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
        try await store.sessions(of: "shop", SessionQuery(status: status), at: now)?.entries.map(\.address.id) ?? []
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

  @Test("each filter finds its own among the others, page by page", arguments: StoreFactory.allCases)
  func filteredPages(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      var canceled: [SessionID] = []
      var all: [SessionID] = []
      for index in 0..<12 {
        let session = try await store.add(makeSession())
        all.insert(session.address.id, at: 0)
        if index % 3 == 0 {
          _ = try await store.cancel(session.address, at: start)
          canceled.insert(session.address.id, at: 0)
        } else if index % 3 == 1 {
          let attempt = try await store.take(session)
          let outcome = AttemptOutcome(
            address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: failure, report: nil)
          _ = try await store.recordOutcome(outcome, at: start, finishing: nil)
        }
      }
      func pages(_ status: SessionStatus?) async throws -> [SessionID] {
        var found: [SessionID] = []
        while true {
          let query = SessionQuery(limit: 3, startingAfter: found.last, status: status)
          let page = try #require(try await store.sessions(of: "shop", query, at: start))
          found += page.entries.map(\.address.id)
          if !page.hasMore { return found }
          try #require(found.count < 20)
        }
      }
      #expect(try await pages(.canceled) == canceled)
      #expect(try await pages(.failed).count == 4)
      #expect(try await pages(.requiresInput).count == 4)
      #expect(try await pages(nil) == all)
    }
  }

  @Test("a list is filtered by reference, time and document", arguments: StoreFactory.allCases)
  func conditions(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let other = "org.example.other"
      var added: [SessionRecord] = []
      for index in 0..<6 {
        let types = [[DocType.mDL], [other], [other, DocType.mDL]][index % 3]
        let session = try makeSession(
          at: start + Int64(index), reference: index < 4 ? "order-\(index % 2)" : nil, docTypes: types)
        added.append(try await store.add(session))
      }
      _ = try await store.add(makeSession(of: "rival", reference: "order-0"))
      _ = try await store.cancel(added[2].address, at: start + 9)
      func found(_ query: SessionQuery) async throws -> [Int] {
        let page = try await store.sessions(of: "shop", query, at: start + 9)
        return try #require(page).entries.compactMap { entry in added.firstIndex { $0.address == entry.address } }
      }
      let first = start.secondsSince1970
      #expect(try await found(SessionQuery(clientReferenceID: "order-0")) == [2, 0])
      #expect(try await found(SessionQuery(clientReferenceID: "order")).isEmpty)
      #expect(try await found(SessionQuery(status: .canceled, clientReferenceID: "order-0")) == [2])
      #expect(try await found(SessionQuery(status: .requiresInput, clientReferenceID: "order-0")) == [0])
      #expect(try await found(SessionQuery(createdFrom: first + 4)) == [5, 4])
      #expect(try await found(SessionQuery(createdBefore: first + 2)) == [1, 0])
      #expect(try await found(SessionQuery(createdFrom: first + 1, createdBefore: first + 3)) == [2, 1])
      #expect(try await found(SessionQuery(docType: DocType.mDL)) == [5, 3, 2, 0])
      #expect(try await found(SessionQuery(docType: "org.example")).isEmpty)
      #expect(try await found(SessionQuery(status: .expired, docType: other)).isEmpty)
      #expect(
        try await found(SessionQuery(limit: 2, startingAfter: added[4].address.id, docType: DocType.mDL)) == [3, 2])
      #expect(
        try await found(SessionQuery(clientReferenceID: "order-1", createdFrom: first + 2, docType: DocType.mDL)) == [3]
      )
      // Redaction erases the filter values with the content, but keeps the time.
      _ = try await store.redact(added[0].address, at: start + 9)
      #expect(try await found(SessionQuery(clientReferenceID: "order-0")) == [2])
      #expect(try await found(SessionQuery(docType: DocType.mDL)) == [5, 3, 2])
      #expect(try await found(SessionQuery(status: .redacted, createdBefore: first + 1)) == [0])
    }
  }

  @Test("a text with a NUL is kept, and found by nothing", arguments: StoreFactory.allCases)
  func textWithNUL(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession(reference: "a\0b"))
      #expect(try await store.session(session.address) == session)
      #expect(try await store.sessions(of: "shop", SessionQuery(clientReferenceID: "a"), at: start)?.entries == [])
    }
  }

  @Test(
    "a list has requests and reports where it is asked for them, and never secrets", arguments: StoreFactory.allCases)
  func parts(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let report = try makeReport()
      let results = SealedResults(expiresAt: start + 600, waiting: [1], kept: keeping([2]), evidence: .kept)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(results),
        report: report)
      _ = try await store.recordOutcome(outcome, at: start, finishing: nil)
      func listed(_ parts: Set<SessionPart>) async throws -> SessionRecord {
        let page = try await store.sessions(of: "shop", SessionQuery(parts: parts), at: start)
        return try #require(page?.entries.first)
      }
      let bare = try await listed([])
      #expect(bare.offers == [] && bare.report == nil && bare.clientSecretHash == nil)
      #expect(bare.content == session.content)
      #expect(bare.results == SealedResults(expiresAt: start + 600, evidence: .kept))
      let whole = try await listed([.requests, .report])
      #expect(whole.offers.map(\.data) == session.offers.map(\.data) && whole.report == report)
      #expect(whole.offers.allSatisfy { $0.sealedMaterial == nil })
    }
  }

  @Test("a page ends where its bytes are read, with one session at least", arguments: StoreFactory.allCases)
  func pageBytes(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let text = String(repeating: "x", count: Limits.pageBytes / 2)
      for _ in 0..<5 { _ = try await store.add(makeSession(note: text)) }
      let first = try #require(try await store.sessions(of: "shop", SessionQuery(), at: start))
      #expect(first.entries.count == 2 && first.hasMore)
      let next = SessionQuery(startingAfter: first.entries.last?.address.id)
      let second = try #require(try await store.sessions(of: "shop", next, at: start))
      #expect(second.entries.count == 2 && second.hasMore)
      let last = SessionQuery(startingAfter: second.entries.last?.address.id)
      let third = try #require(try await store.sessions(of: "shop", last, at: start))
      #expect(third.entries.count == 1 && !third.hasMore)
    }
  }

  @Test(
    "what a relying party has is counted: open sessions, kept bytes, kept replies", arguments: StoreFactory.allCases)
  func usage(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      #expect(try await store.usage(of: "shop", at: start) == StoreUsage())
      let session = try await store.add(makeSession())
      let large = try await store.add(makeSession(lifetime: 30, note: String(repeating: "x", count: 10_000)))
      _ = try await store.add(makeSession(of: "other"))
      let both = try await store.usage(of: "shop", at: start)
      #expect(both.openSessions == 2 && both.idempotencyBytes == 0)
      #expect((10_000..<13_000).contains(both.bytes))
      #expect(try await store.usage(of: "shop", at: start + 30).openSessions == 1)
      // Kept parts of an outcome count; erased parts no longer count.
      let attempt = try await store.take(session)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app",
        conclusion: .verified(SealedResults(kept: keeping([UInt8](repeating: 1, count: 500)))), report: nil,
        evidence: [UInt8](repeating: 1, count: 5_000))
      _ = try await store.recordOutcome(outcome, at: start, finishing: nil)
      let ended = try await store.usage(of: "shop", at: start)
      #expect(ended.openSessions == 1)
      #expect((5_500..<6_500).contains(ended.bytes - both.bytes))
      _ = try await store.redact(large.address, at: start)
      #expect(try await store.usage(of: "shop", at: start).bytes < ended.bytes - 10_000)
      let request = IdempotencyRequest(key: "k", method: "POST", path: "/", body: [])
      let claim = try IdempotencyClaim(request, of: "shop")
      _ = try await store.beginIdempotent(claim, at: start)
      #expect(try await store.usage(of: "shop", at: start).idempotencyBytes == 0)
      let reply = StoredReply(session: session.address.id, body: [UInt8](repeating: 1, count: 700))
      try await store.finishIdempotent(IdempotencyCompletion(claim: claim, reply: reply))
      #expect(try await store.usage(of: "shop", at: start).idempotencyBytes == 700 + StoreUsage.replyOverhead)
      #expect(try await store.usage(of: "other", at: start).idempotencyBytes == 0)
      _ = try await store.redact(session.address, at: start)
      #expect(try await store.usage(of: "shop", at: start).idempotencyBytes == StoreUsage.replyOverhead)
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

  private func keeping(_ sealed: [UInt8]) -> KeptValues {
    KeptValues(parts: [KeptValues.Part(eraseAt: start + 86_400, sealed: sealed)])
  }
}

extension Transition {
  var isNotFound: Bool { if case .notFound = self { true } else { false } }
}
