import FoundationEssentials
import Sessions
import Testing

@testable import Stores

@Suite("A SQLite file that is not what it seems")
struct SQLiteFaultTests {
  @Test("a probe writes a page, which a full disk refuses, but once a second")
  func probe() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      let other = try SQLiteConnection(path: path, role: .reader)
      /// Whether there was anything to commit.
      func isWritten(in second: Int64, thenFails: Bool = false) async throws -> Bool {
        let before = try other.first("PRAGMA data_version") { $0.integer(0) }
        try? await store.writer.perform { connection throws(StoreError) in
          try connection.proveWritable(in: second)
          if thenFails { connection.rollBack() }
        }
        return try other.first("PRAGMA data_version") { $0.integer(0) } != before
      }
      #expect(try await isWritten(in: 1))
      #expect(try await !isWritten(in: 1))
      // Uncommitted data prove nothing.
      #expect(try await !isWritten(in: 2, thenFails: true))
      #expect(try await isWritten(in: 2))
      try await store.probe()
      await store.close()
    }
  }

  @Test("nothing is written to a file that was deleted or replaced", arguments: [false, true])
  func moved(_ isReplaced: Bool) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
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
    // They need a relative path, but must not write to the tests' working folder.
    #expect(SQLiteConnection.filePath(name) == "./" + name)
    #expect(SQLiteConnection.filePath("/" + name) == "/" + name)
    #expect(throws: StoreError.self) { try SQLiteStore(path: "", mode: .test) }
  }
}
