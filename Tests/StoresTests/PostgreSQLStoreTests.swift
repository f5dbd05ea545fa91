import Base
import Testing

@testable import Sessions
@testable import Stores

@Suite("PostgreSQL", .enabled(if: PostgreSQLDatabase.isThere, "MDOC_POSTGRESQL is not set"))
struct PostgreSQLStoreTests {
  @Test("the suites that every store passes run over it")
  func conformance() {
    #expect(StoreFactory.allCases.contains(.postgresql))
  }

  @Test("a start makes no tables and says so; --migrate makes them, once, and they serve one mode")
  func migration() async throws {
    try await PostgreSQLDatabase.withSchema(isMigrated: false) { database in
      #expect(throws: StoreError.olderSchema(found: 0, known: StoreSchema.postgreSQL.version)) { try database.open() }
      try PostgreSQLStore.migrate(database.address, mode: .test)
      try PostgreSQLStore.migrate(database.address, mode: .test)
      let store = try database.open()
      _ = try await store.add(makeSession())
      await store.close()
      let other = StoreError.otherMode(.test)
      for mode in [ServerMode.live, .staging] {
        #expect(throws: other) { try PostgreSQLStore.migrate(database.address, mode: mode) }
        #expect(throws: other) { try PostgreSQLStore(database.address, mode: mode) }
      }
    }
  }

  @Test("a store of staging is opened by staging alone")
  func staging() async throws {
    try await PostgreSQLDatabase.withSchema(isMigrated: false) { database in
      try PostgreSQLStore.migrate(database.address, mode: .staging)
      let store = try PostgreSQLStore(database.address, mode: .staging)
      #expect(store.mode == .staging)
      await store.close()
      for mode in [ServerMode.live, .test] {
        #expect(throws: StoreError.otherMode(.staging)) { try PostgreSQLStore(database.address, mode: mode) }
      }
    }
  }

  @Test(
    "a store from before there were three modes is still of live or of test mode", arguments: [ServerMode.live, .test])
  func earlierMode(_ mode: ServerMode) async throws {
    try await PostgreSQLDatabase.withSchema(isMigrated: false) { database in
      try PostgreSQLStore.migrate(database.address, mode: mode)
      let connection = try database.connect()
      try connection.execute(
        """
        ALTER TABLE mode ADD COLUMN is_live BOOLEAN NOT NULL DEFAULT \(mode == .live);
        ALTER TABLE mode DROP COLUMN name;
        ALTER TABLE events DROP COLUMN result;
        DROP TABLE verifications;
        DROP INDEX sessions_created;
        DROP INDEX sessions_by_reference;
        ALTER TABLE sessions DROP COLUMN client_reference_id;
        ALTER TABLE sessions DROP COLUMN doc_types;
        DELETE FROM migrations WHERE version > 5;
        """)
      for other in ServerMode.allCases where other != mode {
        #expect(throws: StoreError.otherMode(mode)) { try PostgreSQLStore.migrate(database.address, mode: other) }
      }
      try PostgreSQLStore.migrate(database.address, mode: mode)
      await (try PostgreSQLStore(database.address, mode: mode)).close()
    }
  }

  @Test("a newer schema is refused by a start and by --migrate, an older one by a start")
  func versions() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let connection = try database.connect()
      try connection.run("INSERT INTO migrations VALUES (99)")
      let newer = StoreError.newerSchema(found: 99, known: StoreSchema.postgreSQL.version)
      #expect(throws: newer) { try database.open() }
      #expect(throws: newer) { try PostgreSQLStore.migrate(database.address, mode: .test) }
      try connection.run("DELETE FROM migrations")
      #expect(throws: StoreError.olderSchema(found: 0, known: StoreSchema.postgreSQL.version)) { try database.open() }
    }
  }

  @Test("two that migrate at once take turns")
  func migrations() async throws {
    try await PostgreSQLDatabase.withSchema(isMigrated: false) { database in
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 { group.addTask { try PostgreSQLStore.migrate(database.address, mode: .test) } }
        try await group.waitForAll()
      }
      await (try database.open()).close()
    }
  }

  @Test("of two nodes that consume the same challenge at once one gets it, every time")
  func race() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let nodes = [try database.open(), try database.open()]
      for _ in 0..<100 {
        let session = try await nodes[0].add(makeSession())
        let consumptions = try await withThrowingTaskGroup(of: Consumption.self) { group in
          for attempt in 0..<6 {
            group.addTask {
              try await nodes[attempt % 2].consume(
                session.address, protocolName: "apple-in-app", attempt: try AttemptID.random(), at: start)
            }
          }
          return try await group.reduce(into: [Consumption]()) { $0.append($1) }
        }
        let winners = consumptions.compactMap { if case .consumed(let record) = $0 { record } else { nil } }
        #expect(winners.count == 1)
        #expect(winners.first?.offers == session.offers)
        let stored = try #require(try await nodes[1].session(session.address))
        #expect(stored.state == winners.first?.state)
        #expect(stored.offers.allSatisfy { $0.sealedMaterial == nil })
      }
      for node in nodes { await node.close() }
    }
  }

  @Test("a challenge is either consumed or canceled, whichever node was asked first")
  func canceled() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let nodes = [try database.open(), try database.open()]
      for _ in 0..<50 {
        let session = try await nodes[0].add(makeSession())
        async let refusal = nodes[0].refusal(session.address)
        async let transition = nodes[1].cancel(session.address, at: start)
        let (isConsumed, isCanceled) = (try await refusal == nil, try await transition.changed != nil)
        #expect(isConsumed != isCanceled)
      }
      for node in nodes { await node.close() }
    }
  }

  @Test("a key is claimed by one of two nodes")
  func claims() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let nodes = [try database.open(), try database.open()]
      for round in 0..<50 {
        let request = IdempotencyRequest(key: "\(round)", method: "POST", path: "/", body: [])
        let started = try await withThrowingTaskGroup(of: Bool.self) { group in
          for attempt in 0..<6 {
            let claim = try IdempotencyClaim(request, of: "shop")
            group.addTask { try await nodes[attempt % 2].beginIdempotent(claim, at: start).isStarted }
          }
          return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(started == 1)
      }
      for node in nodes { await node.close() }
    }
  }

  @Test("of a reply that is kept while its session is redacted nothing stays")
  func redactedMeanwhile() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let nodes = [try database.open(), try database.open()]
      for round in 0..<50 {
        let request = IdempotencyRequest(key: "\(round)", method: "POST", path: "/", body: [])
        let claim = try IdempotencyClaim(request, of: "shop")
        let session = try await nodes[0].add(makeSession())
        _ = try await nodes[0].beginIdempotent(claim, at: start)
        let reply = StoredReply(session: session.address.id, body: [1], result: [2], resultExpiresAt: start + 600)
        async let finished: Void = nodes[0].finishIdempotent(IdempotencyCompletion(claim: claim, reply: reply))
        async let redacted = nodes[1].redact(session.address, at: start)
        _ = try await (finished, redacted)
        let kept = try await nodes[0].beginIdempotent(try IdempotencyClaim(request, of: "shop"), at: start)
        #expect(kept.reply == StoredReply(session: session.address.id, body: nil))
      }
      for node in nodes { await node.close() }
    }
  }

  @Test("two nodes sweep at once: each row once, and none that somebody holds")
  func sweeps() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let nodes = [try database.open(), try database.open()]
      for _ in 0..<60 { _ = try await nodes[0].add(makeSession(lifetime: 30)) }
      let held = try await nodes[0].add(makeSession(lifetime: 30))
      let holder = try database.connect()
      try holder.execute("BEGIN; SELECT 1 FROM sessions WHERE id = '\(held.address.id)' FOR UPDATE")
      let expired = try await withThrowingTaskGroup(of: Int.self) { group in
        for node in nodes {
          group.addTask {
            var count = 0
            while true {
              let swept = try await node.sweep(at: start + 30, limit: 7).expired
              count += swept
              // The rows that the other node held at that moment were skipped.
              if swept == 0 { return count }
            }
          }
        }
        return try await group.reduce(0, +)
      }
      let left = try await nodes[0].sweep(at: start + 30, limit: 100).expired
      #expect(expired + left == 60)
      #expect(try await nodes[0].session(held.address)?.state == .requiresInput)
      try holder.execute("COMMIT")
      #expect(try await nodes[1].sweep(at: start + 30, limit: 100).expired == 1)
      for node in nodes { await node.close() }
    }
  }

  @Test("a text that no database holds is found nowhere, and is no fault")
  func nul() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open()
      let session = try await store.add(makeSession())
      #expect(try await store.refusal(session.address, "apple-in-app\0") == .sessionProtocolMismatch)
      let foreign = SessionAddress(relyingParty: "sh\0op", id: session.address.id)
      #expect(try await store.refusal(foreign) == .sessionNotFound)
      await store.close()
    }
  }
}
