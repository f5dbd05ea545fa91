import Primitives
import Testing
import VerificationService

@testable import Stores

@Suite("The audit entries of PostgreSQL", .enabled(if: PostgreSQLDatabase.isThere, "MDOC_POSTGRESQL is not set"))
struct PostgreSQLAuditTests {
  @Test("nodes of one name keep one unbroken chain, two names two")
  func shared() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let other = try #require(NodeName("other"))
      let stores = [
        try database.open(), try database.open(),
        try PostgreSQLStore(database.address, isLive: false, node: other, connections: 3),
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
}
