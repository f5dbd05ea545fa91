import FoundationEssentials
import Glibc
import Primitives
import Testing
import VerificationService

@testable import Stores

@Suite("SQLite")
struct SQLiteStoreTests {
  @Test("a restart forgets nothing: consumed once only (S09)")
  func reopened() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let first = try SQLiteStore(path: path, isLive: true)
      let session = try await first.add(makeSession())
      let used = try await first.add(makeSession())
      _ = try await first.take(used)
      await first.close()
      let second = try SQLiteStore(path: path, isLive: true)
      #expect(try await second.session(session.address) == session)
      #expect(try await second.refusal(used.address) == .alreadyUsed)
      #expect(try await second.refusal(session.address) == nil)
      await second.close()
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("what was answered is on disk: a copy of the files taken after the commit has it")
  func crashed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: true)
      let session = try await store.add(makeSession())
      _ = try await store.take(session)
      // As after a crash: the log was not folded into the file, and its index is lost.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: directory + "/copy.sqlite" + suffix)
      }
      let copy = try SQLiteStore(path: directory + "/copy.sqlite", isLive: true)
      #expect(try await copy.refusal(session.address) == .alreadyUsed)
      await copy.close()
      await store.close()
    }
  }

  @Test("the other mode is refused")
  func mode() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      await (try SQLiteStore(path: path, isLive: false)).close()
      #expect(throws: StoreError.otherMode(isLive: false)) { try SQLiteStore(path: path, isLive: true) }
      await (try SQLiteStore(path: path, isLive: false)).close()
    }
  }

  @Test("a newer schema is refused, and so is a file that is none")
  func schema() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      try await store.writer.perform { connection throws(StoreError) in
        _ = try connection.run("INSERT INTO migrations VALUES (99)")
      }
      await store.close()
      #expect(throws: StoreError.newerSchema(found: 99, known: 3)) { try SQLiteStore(path: path, isLive: false) }
      try Data("this is no database, and long enough to be seen as none".utf8).write(
        to: URL(filePath: directory + "/other"))
      #expect(throws: StoreError.self) { try SQLiteStore(path: directory + "/other", isLive: false) }
    }
  }

  @Test("a file of the first version is brought to this one, and what it holds is still there")
  func upgraded() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      let session = try await store.add(makeSession())
      try await store.writer.perform { connection throws(StoreError) in
        for table in ["deliveries", "outbox", "events", "audit"] { try connection.execute("DROP TABLE \(table)") }
        for column in ["attempt_protocol", "evidence", "evidence_bundle"] {
          try connection.execute("ALTER TABLE sessions DROP COLUMN \(column)")
        }
        try connection.run("DELETE FROM migrations WHERE version > 1")
      }
      await #expect(throws: StoreError.self) { try await store.cancel(session.address, at: start) }
      await store.close()
      let upgraded = try SQLiteStore(path: path, isLive: false)
      #expect(try await upgraded.session(session.address) == session)
      #expect(try await upgraded.events(of: "shop", EventQuery())?.events == [])
      #expect(try await upgraded.cancel(session.address, at: start).changed != nil)
      #expect(try await upgraded.events(of: "shop", EventQuery())?.events.count == 1)
      await upgraded.close()
    }
  }

  @Test("a change that cannot be committed is not told")
  func rolledBack() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      // An event that is already there makes the insert fail, and the outcome with it.
      try await store.writer.perform { connection throws(StoreError) in
        try connection.tell(1, session.address, .verified, at: start)
      }
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none),
        report: nil)
      await #expect(throws: StoreError.self) { try await store.recordOutcome(outcome, at: start, finishing: nil) }
      #expect(try await store.session(session.address)?.state.status == .processing)
      // And a transaction that is lost takes the event with it.
      let other = try await store.add(makeSession())
      await #expect(throws: StoreError.self) {
        try await store.writer.perform { connection throws(StoreError) in
          try connection.tell(2, other.address, .canceled, at: start)
          connection.rollBack()
          throw StoreError.unavailable("as when the disk is full")
        }
      }
      #expect(try await store.event(EventID(other.address.id, .canceled), of: "shop") == nil)
      await store.close()
    }
  }

  @Test("on a full disk nothing is consumed and nothing half-done; with room again it goes on")
  func fullDisk() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
      let session = try await store.add(makeSession())
      try await store.limitPages(to: 1)
      let large = try makeSession(size: 1 << 20)
      await #expect(throws: StoreError.self) { try await store.create(large, finishing: nil) }
      #expect(try await store.session(large.address) == nil)
      // Fill what is left of the pages, so that even the consume cannot be written.
      var created = 0
      while (try? await store.create(makeSession(reference: String(repeating: "x", count: 3000)), finishing: nil))
        != nil
      {
        created += 1
        try #require(created < 1000)
      }
      let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
          let large = try makeSession(size: 1 << 20)
          group.addTask {
            do {
              try await store.create(large, finishing: nil)
              return false
            } catch StoreError.unavailable { return true }
          }
        }
        return try await group.reduce(into: [Bool]()) { $0.append($1) }
      }
      #expect(outcomes.allSatisfy { $0 })
      try await store.limitPages(to: 1 << 30)
      #expect(try await store.refusal(session.address) == nil)
      try await store.create(large, finishing: nil)
      await store.close()
    }
  }

  @Test("a consume that cannot be committed leaves its challenge to be consumed later")
  func fullDiskConsume() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
      var sessions: [SessionRecord] = []
      // Rows of several sizes, of which some fill their pages.
      for size in stride(from: 300, through: 700, by: 25) {
        for _ in 0..<20 {
          sessions.append(try await store.add(makeSession(reference: String(repeating: "x", count: size))))
        }
      }
      try await store.limitPages(to: 1)
      // An attempt makes a row longer: where its page is full, another page would be needed.
      var refused: [SessionRecord] = []
      for session in sessions {
        do {
          #expect(try await store.refusal(session.address) == nil)
        } catch StoreError.unavailable {
          refused.append(session)
        }
      }
      #expect(!refused.isEmpty)
      try await store.limitPages(to: 1 << 30)
      for session in refused {
        #expect(try await store.session(session.address) == session)
        #expect(try await store.refusal(session.address) == nil)
      }
      await store.close()
    }
  }

  @Test("an outcome that cannot be committed is an error, and gives no result")
  func fullDiskOutcome() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      try await store.limitPages(to: 1)
      let results = SealedResults(expiresAt: start + 600, waiting: [UInt8](repeating: 1, count: 1 << 20))
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(results),
        report: nil)
      await #expect {
        try await store.recordOutcome(outcome, at: start, finishing: nil)
      } throws: { error in
        if case .unavailable? = error as? StoreError { true } else { false }
      }
      let stored = try #require(try await store.session(session.address))
      #expect(stored.state.status == .processing && stored.results == .none)
      await store.close()
    }
  }

  @Test("a file locked by another process is unavailable, and nothing is consumed")
  func locked() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      let session = try await store.add(makeSession())
      let other = try SQLiteConnection(path: path, role: .writer)
      try other.run("BEGIN IMMEDIATE")
      await #expect {
        try await store.refusal(session.address)
      } throws: { error in
        if case .unavailable? = error as? StoreError { true } else { false }
      }
      try other.run("ROLLBACK")
      #expect(try await store.session(session.address)?.state == .requiresInput)
      #expect(try await store.refusal(session.address) == nil)
      await store.close()
    }
  }

  @Test("redaction leaves nothing in the file nor in its log")
  func erased() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      let secret = "a-reference-that-is-personal"
      let session = try await store.add(makeSession(reference: secret))
      func isInFiles() throws -> Bool {
        try [path, path + "-wal"].contains {
          try Data(contentsOf: URL(filePath: $0)).firstRange(of: Data(secret.utf8)) != nil
        }
      }
      #expect(try isInFiles())
      _ = try await store.redact(session.address, at: start)
      #expect(try !isInFiles())
      await store.close()
    }
  }

  @Test("of writes that are committed together, one that fails takes no other with it")
  func group() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", isLive: false)
      let existing = try await store.add(makeSession())
      let added = try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<60 {
          let session = index % 3 == 0 ? existing : try makeSession()
          group.addTask {
            do {
              try await store.create(session, finishing: nil)
              return true
            } catch StoreError.corrupt { return false }
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(added == 40)
      #expect(try await store.sessions(of: "shop", SessionQuery(limit: 100), at: start)?.sessions.count == 41)
      #expect(try await store.session(existing.address) == existing)
      await store.close()
    }
  }

  @Test("only the owner can read the file")
  func permissions() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      _ = try await store.add(makeSession())
      for suffix in ["", "-wal", "-shm"] {
        var status = stat()
        try #require(stat(path + suffix, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
      }
      await store.close()
    }
  }
}

extension SQLiteStore {
  /// SQLite's own limit on the file's size, raised to the present size where that is larger: a disk that is full.
  func limitPages(to pages: Int) async throws {
    try await writer.perform { connection throws(StoreError) in
      _ = try connection.first("PRAGMA max_page_count = \(pages)") { $0.integer(0) }
    }
  }
}
