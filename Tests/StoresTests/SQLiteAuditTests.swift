import Primitives
import Testing
import VerificationService

@testable import Stores

@Suite("The audit entries of SQLite")
struct SQLiteAuditTests {
  private func answer(_ store: SQLiteStore) async throws -> OutcomeRecording {
    let session = try await store.add(makeSession())
    let attempt = try await store.take(session)
    return try await store.recordOutcome(
      AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: failure, report: nil),
      at: start, finishing: nil)
  }

  private func verdict(_ store: any AuditStore) async throws -> AuditVerdict {
    var lines: [UInt8] = []
    try await AuditExport(store).run(reading: { $0 }) { (bytes) throws(StoreError) in lines += bytes }
    var verification = AuditVerification()
    for (index, line) in lines.split(separator: UInt8(ascii: "\n")).enumerated() {
      verification.read(Array(line), at: AuditPlace(file: "a", line: index + 1))
    }
    verification.endFile("a")
    return verification.verdict()
  }

  @Test("an outcome whose entry cannot be written is not acknowledged, and not there")
  func unwritten() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
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
        try SQLiteStore(path: path, isLive: false), try SQLiteStore(path: path, isLive: false),
        try SQLiteStore(path: path, isLive: false, node: other),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in stores {
          for _ in 0..<20 { group.addTask { #expect(try await answer(store).isRecorded) } }
        }
        try await group.waitForAll()
      }
      let verdict = try await verdict(stores[0])
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
        let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
        _ = try await answer(store)
        await store.close()
      }
      let reader = try SQLiteAuditReader(path: directory + "/s.sqlite")
      let verdict = try await verdict(reader)
      #expect(verdict.findings == [] && verdict.heads.map(\.sequence) == [3])
    }
  }

  @Test("they are read beside a server, and without making a file")
  func reader() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      #expect(throws: StoreError.self) { try SQLiteAuditReader(path: path) }
      let store = try SQLiteStore(path: path, isLive: false)
      _ = try await answer(store)
      let reader = try SQLiteAuditReader(path: path)
      #expect(try await reader.auditHeads() == (try await store.auditHeads()))
      _ = try await answer(store)
      #expect(try await reader.auditEntries(of: .standard, after: 1, limit: 9).links.count == 1)
      try await store.writer.perform { connection throws(StoreError) in
        try connection.run("DELETE FROM migrations WHERE version > 2")
      }
      #expect(throws: StoreError.self) { try SQLiteAuditReader(path: path) }
      await store.close()
    }
  }
}
