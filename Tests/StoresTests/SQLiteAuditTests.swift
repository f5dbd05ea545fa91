import Base
import Sessions
import Testing

@testable import Stores

@Suite("The audit entries of SQLite")
struct SQLiteAuditTests {
  @Test("an outcome whose entry cannot be written is not acknowledged, and not there")
  func unwritten() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      try await store.writer.perform { connection throws(StoreError) in
        try connection.execute(
          "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
      }
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none),
        report: nil)
      await #expect(throws: StoreError.self) { try await store.recordOutcome(outcome, at: start, finishing: nil) }
      #expect(try await store.session(session.address)?.state.status == .processing)
      await #expect(throws: StoreError.self) { try await store.sweep(at: start + 31, limit: 10) }
      await #expect(throws: StoreError.self) { try await store.redact(session.address, at: start) }
      #expect(try await store.session(session.address)?.state.status == .processing)
      #expect(try await store.auditHeads().isEmpty)
      await store.close()
    }
  }

  @Test("two processes of one name keep one unbroken chain, two names two")
  func shared() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let other = try #require(NodeName("other"))
      let stores = [
        try SQLiteStore(path: path, mode: .test), try SQLiteStore(path: path, mode: .test),
        try SQLiteStore(path: path, mode: .test, node: other),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in stores {
          for _ in 0..<20 { group.addTask { _ = try await store.answer() } }
        }
        try await group.waitForAll()
      }
      let verdict = try await auditVerdict(stores[0])
      #expect(verdict.findings == [] && verdict.entries == 60)
      #expect(verdict.heads.map(\.node) == [.standard, other])
      #expect(verdict.heads.map(\.sequence) == [40, 20])
      for store in stores { await store.close() }
    }
  }

  @Test("a chain goes on after a restart")
  func restarted() async throws {
    try await withTemporaryDirectory { directory in
      for _ in 0..<3 {
        let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
        _ = try await store.answer()
        await store.close()
      }
      let reader = try SQLiteAuditReader(path: directory + "/s.sqlite")
      let verdict = try await auditVerdict(reader)
      #expect(verdict.findings == [] && verdict.heads.map(\.sequence) == [3])
    }
  }

  @Test("they are read beside a server, and without making a file")
  func reader() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      #expect(throws: StoreError.self) { try SQLiteAuditReader(path: path) }
      let store = try SQLiteStore(path: path, mode: .test)
      _ = try await store.answer()
      let reader = try SQLiteAuditReader(path: path)
      #expect(try await reader.auditHeads() == (try await store.auditHeads()))
      _ = try await store.answer()
      #expect(try await reader.auditEntries(of: .standard, after: 1, limit: 9).links.count == 1)
      _ = try await store.writer.perform { connection throws(StoreError) in
        try connection.run("DELETE FROM migrations WHERE version > 2")
      }
      #expect(throws: StoreError.olderSchema(found: 2, known: StoreSchema.sqlite.version)) {
        try SQLiteAuditReader(path: path)
      }
      await store.close()
    }
  }
}
