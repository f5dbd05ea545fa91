import Base
import Sessions
import Testing

@testable import Stores

@Suite("The audit entries of PostgreSQL", .enabled(if: PostgreSQLDatabase.isThere, "MDOC_POSTGRESQL is not set"))
struct PostgreSQLAuditTests {
  @Test("nodes of one name keep one unbroken chain, two names two")
  func shared() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let other = try #require(NodeName("other"))
      let stores = [
        try database.open(), try database.open(),
        try PostgreSQLStore(database.address, mode: .test, node: other, connections: 3),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in stores {
          for _ in 0..<20 { group.addTask { _ = try await store.answer() } }
        }
        try await group.waitForAll()
      }
      let verdict = try await auditVerdict(stores[0])
      #expect(verdict.findings == [] && verdict.entries == 60)
      #expect(verdict.heads.map(\.node) == [.standard, other] && verdict.heads.map(\.sequence) == [40, 20])
      for store in stores { await store.close() }
    }
  }

  @Test("an outcome whose entry cannot be written is not acknowledged, and not there")
  func unwritten() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open()
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      try database.connect().execute("ALTER TABLE audit ADD CONSTRAINT full_up CHECK (sequence < 0)")
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none),
        report: nil)
      await #expect(throws: StoreError.self) { try await store.recordOutcome(outcome, at: start, finishing: nil) }
      await #expect(throws: StoreError.self) { try await store.sweep(at: start + 31, limit: 10) }
      await #expect(throws: StoreError.self) { try await store.redact(session.address, at: start) }
      #expect(try await store.session(session.address)?.state.status == .processing)
      #expect(try await store.auditHeads().isEmpty)
      await store.close()
    }
  }

  @Test("outcomes that come while the chain's head is held share a commit, and a bad one takes no other with it")
  func groups() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      // Two connections: one for the outcomes, one for all else.
      let store = try database.open(connections: 2)
      _ = try await store.answer()
      let taken = try await takenSessions(12, in: store)
      let bad = taken[7].0.address.id.text
      let holder = try database.connect()
      try holder.execute("ALTER TABLE sessions ADD CONSTRAINT open CHECK (id <> '\(bad)' OR status = 'processing')")
      try holder.execute("BEGIN; SELECT 1 FROM audit_heads FOR UPDATE")
      let recordings = Task {
        await withTaskGroup(of: (String, Bool).self) { group in
          for (session, attempt) in taken {
            group.addTask {
              let isRecorded = try? await isRecorded(failure, of: session, attempt, in: store)
              return (session.address.id.text, isRecorded == true)
            }
          }
          return await group.reduce(into: [String: Bool]()) { $0[$1.0] = $1.1 }
        }
      }
      try await database.waitUntilBlocked()
      // All other work continues meanwhile.
      #expect(try await store.session(taken[0].0.address)?.state.status == .processing)
      try holder.execute("COMMIT")
      let found = await recordings.value
      for (session, _) in taken {
        let id = session.address.id.text
        #expect(found[id] == (id != bad))
        #expect(
          try await store.session(session.address)?.state.status == (id == bad ? .processing : .failed))
      }
      let verdict = try await auditVerdict(store)
      #expect(verdict.findings == [] && verdict.entries == 12)
      await store.close()
    }
  }

  @Test("of outcomes in one commit those whose session ended meanwhile are superseded")
  func superseded() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open(connections: 2)
      _ = try await store.answer()
      let taken = try await takenSessions(6, in: store)
      _ = try await store.redact(taken[3].0.address, at: start)
      let holder = try database.connect()
      try holder.execute("BEGIN; SELECT 1 FROM audit_heads FOR UPDATE")
      let recorded = Task {
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for (session, attempt) in taken {
            group.addTask {
              try await isRecorded(.verified(.none), of: session, attempt, in: store)
            }
          }
          return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
      }
      try await database.waitUntilBlocked()
      try holder.execute("COMMIT")
      #expect(try await recorded.value == 5)
      #expect(try await store.session(taken[3].0.address)?.state.status == .redacted)
      let verdict = try await auditVerdict(store)
      // The first, the redaction, and the five.
      #expect(verdict.findings == [] && verdict.entries == 7)
      await store.close()
    }
  }

  private func takenSessions(_ count: Int, in store: PostgreSQLStore) async throws -> [(SessionRecord, AttemptID)] {
    var taken: [(SessionRecord, AttemptID)] = []
    for _ in 0..<count {
      let session = try await store.add(makeSession())
      taken.append((session, try await store.take(session)))
    }
    return taken
  }

  /// Retries if a slow machine held the head for longer than the store waits.
  private func isRecorded(
    _ conclusion: AttemptOutcome.Conclusion, of session: SessionRecord, _ attempt: AttemptID, in store: PostgreSQLStore
  ) async throws -> Bool {
    let outcome = AttemptOutcome(
      address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: conclusion, report: nil)
    for _ in 0..<50 {
      do throws(StoreError) {
        if case .recorded = try await store.recordOutcome(outcome, at: start + 1, finishing: nil) { return true }
        return false
      } catch {
        guard case .unavailable = error else { throw error }
      }
    }
    return false
  }
}
