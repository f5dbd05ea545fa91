import Base
import Dispatch
import FoundationEssentials
import Glibc
import Mdoc
import Testing

@testable import Sessions
@testable import Stores

@Suite("SQLite")
struct SQLiteStoreTests {
  @Test("a restart forgets nothing: consumed once only (S09)")
  func reopened() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let first = try SQLiteStore(path: path, mode: .live)
      let session = try await first.add(makeSession())
      let used = try await first.add(makeSession())
      _ = try await first.take(used)
      await first.close()
      let second = try SQLiteStore(path: path, mode: .live)
      #expect(try await second.session(session.address) == session)
      #expect(try await second.refusal(used.address) == .sessionAlreadyUsed)
      #expect(try await second.refusal(session.address) == nil)
      await second.close()
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("what was answered is on disk: a copy of the files taken after the commit has it")
  func crashed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .live)
      let session = try await store.add(makeSession())
      _ = try await store.take(session)
      // As after a crash: the log was not merged into the file, and its index is lost.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: directory + "/copy.sqlite" + suffix)
      }
      let copy = try SQLiteStore(path: directory + "/copy.sqlite", mode: .live)
      #expect(try await copy.refusal(session.address) == .sessionAlreadyUsed)
      await copy.close()
      await store.close()
    }
  }

  @Test("a store of one mode refuses the other two", arguments: ServerMode.allCases)
  func mode(_ mode: ServerMode) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      await (try SQLiteStore(path: path, mode: mode)).close()
      for other in ServerMode.allCases where other != mode {
        #expect(throws: StoreError.otherMode(mode)) { try SQLiteStore(path: path, mode: other) }
      }
      let again = try SQLiteStore(path: path, mode: mode)
      #expect(again.mode == mode)
      await again.close()
    }
  }

  @Test(
    "a store from before there were three modes is still of live or of test mode", arguments: [ServerMode.live, .test])
  func earlierMode(_ mode: ServerMode) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: mode)
      try await store.writer.perform { connection throws(StoreError) in
        try connection.undoSeventhStep()
        try connection.execute("ALTER TABLE events DROP COLUMN result; DROP TABLE verifications")
        try connection.undoTenthStep()
        try connection.run("DELETE FROM migrations WHERE version > 6")
      }
      await store.close()
      for other in ServerMode.allCases where other != mode {
        #expect(throws: StoreError.otherMode(mode)) { try SQLiteStore(path: path, mode: other) }
      }
      await (try SQLiteStore(path: path, mode: mode)).close()
      #expect(throws: StoreError.otherMode(mode)) { try SQLiteStore(path: path, mode: .staging) }
    }
  }

  @Test("a newer schema is refused, and so is a file that is none")
  func schema() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      try await store.writer.perform { connection throws(StoreError) in
        _ = try connection.run("INSERT INTO migrations VALUES (99)")
      }
      await store.close()
      #expect(throws: StoreError.newerSchema(found: 99, known: StoreSchema.sqlite.version)) {
        try SQLiteStore(path: path, mode: .test)
      }
      try Data("this is no database, and long enough to be seen as none".utf8).write(
        to: URL(filePath: directory + "/other"))
      #expect(throws: StoreError.self) { try SQLiteStore(path: directory + "/other", mode: .test) }
    }
  }

  @Test("a file of the first version is brought to this one, and what it holds is still there")
  func upgraded() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      let session = try await store.add(makeSession())
      try await store.writer.perform { connection throws(StoreError) in
        try connection.undoTenthStep()
        for table in ["deliveries", "outbox", "events", "audit", "verifications"] {
          try connection.execute("DROP TABLE \(table)")
        }
        try connection.undoLaterSteps()
        for column in ["attempt_protocol", "evidence", "evidence_bundle"] {
          try connection.execute("ALTER TABLE sessions DROP COLUMN \(column)")
        }
        try connection.run("DELETE FROM migrations WHERE version > 1")
      }
      await #expect(throws: StoreError.self) { try await store.cancel(session.address, at: start) }
      await store.close()
      let upgraded = try SQLiteStore(path: path, mode: .test)
      #expect(try await upgraded.session(session.address) == session)
      #expect(try await upgraded.session(nil, clientSecretHash: try #require(session.clientSecretHash)) == session)
      let found = SessionQuery(clientReferenceID: "order-17", docType: DocType.mDL)
      #expect(try await upgraded.sessions(of: "shop", found, at: start)?.entries.count == 1)
      #expect(try await upgraded.events(of: "shop", EventQuery())?.entries == [])
      #expect(try await upgraded.cancel(session.address, at: start).changed != nil)
      #expect(try await upgraded.events(of: "shop", EventQuery())?.entries.count == 1)
      await upgraded.close()
    }
  }

  @Test("entries from before they were found by relying party are found so afterwards")
  func upgradedAudit() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      for party in ["shop", "other", "shop"] { _ = try await store.answer(of: party) }
      let own = try await store.auditHeads(of: "other")
      try await store.writer.perform { connection throws(StoreError) in
        try connection.undoEleventhStep()
        try connection.execute("DROP INDEX audit_of_party; ALTER TABLE audit DROP COLUMN relying_party")
        try connection.execute("DROP INDEX events_of_party; CREATE INDEX events_created ON events (created)")
        try connection.execute("CREATE INDEX events_of_party ON events (relying_party, seq)")
        try connection.execute("ALTER TABLE events DROP COLUMN result; DROP TABLE verifications")
        try connection.undoTenthStep()
        try connection.undoLaterSteps()
        try connection.run("DELETE FROM migrations WHERE version > 3")
      }
      await store.close()
      let upgraded = try SQLiteStore(path: path, mode: .test)
      #expect(own.map(\.sequence) == [2])
      #expect(try await upgraded.auditHeads(of: "other") == own)
      #expect(try await upgraded.auditEntries(of: .standard, "shop", after: 0, limit: 9).links.count == 2)
      await upgraded.close()
    }
  }

  @Test("a change that cannot be committed is not told")
  func rolledBack() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      // An event that is already there makes the insert fail, and the outcome with it.
      try await store.writer.perform { connection throws(StoreError) in
        _ = try connection.run(
          "INSERT INTO events (session, session_id, type, relying_party, created) VALUES (1, $1, 'verified', 'shop', 0)",
          .text(session.address.id.text))
      }
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none),
        report: nil)
      await #expect(throws: StoreError.self) { try await store.recordOutcome(outcome, at: start, finishing: nil) }
      #expect(try await store.session(session.address)?.state.status == .processing)
      // A lost transaction also loses the event.
      let other = try await store.add(makeSession())
      await #expect(throws: StoreError.self) {
        try await store.writer.perform { connection throws(StoreError) in
          try connection.run("UPDATE sessions SET status = 'canceled' WHERE id = $1", .text(other.address.id.text))
          try connection.tell(other.address.id, at: start)
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
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let session = try await store.add(makeSession())
      try await store.limitPages(to: 1)
      let large = try makeSession(size: 1 << 20)
      await #expect(throws: StoreError.self) { try await store.create(large, finishing: nil) }
      #expect(try await store.session(large.address) == nil)
      // Fill the rest of the pages, so that not even the consume can be written.
      var created = 0
      while (try? await store.create(makeSession(note: String(repeating: "x", count: 3000)), finishing: nil))
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
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      var sessions: [SessionRecord] = []
      // Rows of several sizes, of which some fill their pages.
      for size in stride(from: 300, through: 700, by: 25) {
        for _ in 0..<20 {
          sessions.append(try await store.add(makeSession(note: String(repeating: "x", count: size), size: 1)))
        }
      }
      try await store.limitPages(to: 1)
      // An attempt makes a row longer: if its page is full, another page is needed.
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
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
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
      let store = try SQLiteStore(path: path, mode: .test)
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
      let store = try SQLiteStore(path: path, mode: .test)
      let secret = "a-reference-that-is-personal"
      let session = try await store.add(makeSession(reference: secret))
      func isInFiles() throws -> Bool {
        try [path, path + "-wal"].contains {
          try Data(contentsOf: URL(filePath: $0)).firstRange(of: Data(secret.utf8)) != nil
        }
      }
      #expect(try isInFiles())
      _ = try await store.redact(session.address, at: start)
      // The log is emptied after the reply and before the next write, or a little later if there is a reader.
      for _ in 0..<100 where try isInFiles() {
        try await store.probe()
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(try !isInFiles())
      await store.close()
    }
  }

  @Test("a reader of the file keeps nobody from writing, and what was erased leaves the log after it")
  func erasedBesideReader() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let secret = "a-reference-that-is-personal"
      let time = Locked<Int64>(1_000)
      let connection = try SQLiteConnection(path: path, role: .writer)
      try StoreSchema.sqlite.prepare(connection, mode: .test)
      let writer = try DatabaseThread(connection) { time.withLock { $0 } }
      let store = try SQLiteStore(path: path, mode: .test, writer: writer)
      let session = try await store.add(makeSession(reference: secret))
      let backup = try SQLiteConnection(path: path, role: .reader)
      try backup.run("BEGIN")
      _ = try backup.first("SELECT count(*) FROM sessions") { $0.integer(0) }
      // During the read, emptying the log is tried once after each pause, regardless of the number of writes.
      func tries(afterWrites writes: Int) async throws -> Int {
        for _ in 0..<writes { _ = try await store.add(makeSession()) }
        return try await writer.perform { connection throws(StoreError) in connection.log.tries }
      }
      _ = try await store.redact(session.address, at: start)
      #expect(try await tries(afterWrites: 20) == 1)
      time.withLock { $0 += 100 }
      #expect(try await tries(afterWrites: 20) == 2)
      time.withLock { $0 += 100 }
      #expect(try await tries(afterWrites: 20) == 2)
      func isInFiles() throws -> Bool {
        try [path, path + "-wal"].contains {
          try Data(contentsOf: URL(filePath: $0)).firstRange(of: Data(secret.utf8)) != nil
        }
      }
      #expect(try isInFiles())
      try backup.run("COMMIT")
      time.withLock { $0 += 100 }
      #expect(try await tries(afterWrites: 2) == 3)
      #expect(try !isInFiles())
      await store.close()
    }
  }

  @Test("a write waits for one group of another relying party's writes, and not for all")
  func fairWrites() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let (isHeld, order) = (Locked(true), Locked<[String]>([]))
      let queued = Locked(0)
      @Sendable func write(_ name: String) async throws {
        try await Flow.$current.withValue(Flow(relyingParty: name)) {
          queued.withLock { $0 += 1 }
          try await store.writer.perform { _ throws(StoreError) in
            while isHeld.withLock({ $0 }) { usleep(1_000) }
            usleep(2_000)
          }
        }
        order.withLock { $0.append(name) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<40 { group.addTask { try await write("heavy") } }
        while queued.withLock({ $0 }) < 40 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))
        group.addTask { try await write("light") }
        while queued.withLock({ $0 }) < 41 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))
        isHeld.withLock { $0 = false }
        try await group.waitForAll()
      }
      // The group with the first write, and the group with this one.
      let place = try #require(order.withLock { $0.firstIndex(of: "light") })
      #expect(place < 20)
      await store.close()
    }
  }

  @Test("the pauses between attempts to empty the log grow to some seconds, and begin anew with the next erasure")
  func pauses() {
    var log = LogTruncation()
    #expect(log.wait(at: 0) == nil)
    log.isDue = true
    #expect(log.wait(at: 0) == 0)
    var pauses: [Int64] = []
    for _ in 0..<8 {
      log.tried(isBusy: true, at: 0)
      pauses.append(log.wait(at: 0) ?? -1)
    }
    #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
    log.tried(isBusy: false, at: 0)
    #expect(log.wait(at: 0) == nil)
    log.isDue = true
    #expect(log.wait(at: 0) == 0)
  }

  @Test("a read that takes too long is ended, and the next goes on")
  func slowRead() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let session = try await store.add(makeSession())
      await #expect {
        try await store.lister.perform { connection throws(StoreError) in
          connection.allowRead(.zero)
          _ = try connection.first(
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
          ) { $0.integer(0) }
        }
      } throws: { error in
        if case .unavailable? = error as? StoreError { true } else { false }
      }
      #expect(try await store.sessions(of: "shop", SessionQuery(), at: start)?.entries.count == 1)
      #expect(try await store.session(session.address) == session)
      await store.close()
    }
  }

  @Test("a list that waits keeps nobody from reading a session")
  func lanes() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let session = try await store.add(makeSession())
      // A list that ends only after a session was read concurrently.
      let isRead = DispatchSemaphore(value: 0)
      async let list: Void = store.lister.perform { _ throws(StoreError) in isRead.wait() }
      #expect(try await store.session(session.address) == session)
      isRead.signal()
      try await list
      await store.close()
    }
  }

  @Test("no list reads what its filter leaves out: each is found by an index")
  func plans() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let plans = try await store.lister.perform { connection throws(StoreError) in
        var plans: [String] = []
        func explain(_ query: SessionQuery) throws(StoreError) {
          let listing = SessionListing(query, of: "shop", before: .max, at: start, SQLiteConnection.dialect)
          plans += try connection.rows("EXPLAIN QUERY PLAN " + listing.sql, listing.values) { $0.text(3) }
        }
        for status in [nil] + SessionStatus.allCases.map({ $0 }) {
          try explain(SessionQuery(status: status))
          try explain(SessionQuery(status: status, clientReferenceID: "a", createdBefore: 9, docType: "b"))
          try explain(SessionQuery(status: status, createdFrom: 3, docType: "b"))
        }
        return plans
      }
      #expect(plans.contains { $0.contains("sessions_waiting_of_party (relying_party=? AND seq<?)") })
      #expect(plans.contains { $0.contains("sessions_created (relying_party=? AND created>?)") })
      #expect(
        plans.contains {
          $0.contains("sessions_by_reference (relying_party=? AND client_reference_id=? AND seq<?)")
        })
      #expect(plans.contains { $0.contains("sessions_ended_of_party (relying_party=? AND status=? AND seq<?)") })
      #expect(Set(plans.filter { $0.hasPrefix("SCAN sessions") }) == ["SCAN sessions USING INDEX sessions_processing"])
      await store.close()
    }
  }

  @Test("of writes that are committed together, one that fails takes no other with it")
  func group() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
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
      #expect(try await store.sessions(of: "shop", SessionQuery(limit: 100), at: start)?.entries.count == 41)
      #expect(try await store.session(existing.address) == existing)
      await store.close()
    }
  }

  @Test("only the owner can read the file")
  func permissions() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
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
  /// SQLite's own limit on the file's size, raised to at least the present size: emulates a full disk.
  func limitPages(to pages: Int) async throws {
    try await writer.perform { connection throws(StoreError) in
      _ = try connection.first("PRAGMA max_page_count = \(pages)") { $0.integer(0) }
    }
  }
}
