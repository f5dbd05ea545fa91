import FoundationEssentials
import Testing
import VerificationService

@testable import Stores

@Suite("A SQLite file that is not what it seems")
struct SQLiteFaultTests {
  @Test("a probe writes a page, which a full disk refuses, and not twice in a second")
  func probe() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      let other = try SQLiteConnection(path: path, role: .reader)
      func version() throws -> Int64? { try other.first("PRAGMA data_version") { $0.integer(0) } }
      let before = try version()
      try await store.probe()
      #expect(try version() != before)
      // Ten at once do not fall into ten seconds.
      var last = try version()
      var changes = 0
      for _ in 0..<10 {
        try await store.probe()
        let now = try version()
        if now != last { changes += 1 }
        last = now
      }
      #expect(changes < 10)
      await store.close()
    }
  }

  @Test("nothing is written to a file that was deleted or replaced", arguments: [false, true])
  func moved(_ isReplaced: Bool) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, isLive: false)
      let session = try await store.add(makeSession())
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      if isReplaced { try Data().write(to: URL(filePath: path)) }
      await #expect(throws: StoreError.self) { try await store.refusal(session.address) }
      await #expect(throws: StoreError.self) { try await store.probe() }
      if isReplaced { try FileManager.default.removeItem(atPath: path) }
      try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
      #expect(try await store.refusal(session.address) == nil)
      await store.close()
    }
  }

  @Test("names that mean something to SQLite are names of files", arguments: [":memory:", "file:s.sqlite?mode=memory"])
  func names(_ name: String) async throws {
    // A relative path is what they need to be, and the folder that tests run in is not theirs to write to.
    #expect(SQLiteConnection.filePath(name) == "./" + name)
    #expect(SQLiteConnection.filePath("/" + name) == "/" + name)
    #expect(throws: StoreError.self) { try SQLiteStore(path: "", isLive: false) }
  }
}
