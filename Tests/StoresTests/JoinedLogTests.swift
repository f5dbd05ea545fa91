import Base
import CSQLite
import FoundationEssentials
import Glibc
import Sessions
import Testing

@testable import Stores

/// What reaches the write-ahead log, and what a failed write of it leaves behind.
@Suite(.serialized)
struct JoinedLogTests {
  @Test func `a commit writes the log in one call`() async throws {
    try await withTemporaryDirectory { directory in
      let store = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      let disk = SystemDisk(directory)
      for _ in 0..<3 {
        _ = try await store.add(makeSession())
        #expect(disk.takeWrites() == 1)
      }
      await store.close()
    }
  }

  @Test(arguments: [0, 1, 2]) func `a commit that cannot be written changes nothing, now and after a crash`(
    kept: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      let first = try await store.add(makeSession())
      let disk = SystemDisk(directory)
      // The part of the write that fits: nothing, half a page, or whole pages without the last.
      disk.fill(after: [0, 500, 5 * 1_048][kept])
      let lost = try makeSession()
      await #expect(throws: StoreError.self) { try await store.create(lost, finishing: nil) }
      await #expect(throws: StoreError.self) { _ = try await store.take(first) }
      #expect(try await store.session(lost.address) == nil)
      #expect(try await store.session(first.address) == first)
      try await Self.afterCrash(of: path) { copy async throws in
        #expect(try await copy.session(lost.address) == nil)
        #expect(try await copy.session(first.address) == first)
      }
      disk.empty()
      let second = try await store.add(makeSession())
      _ = try await store.take(first)
      try await Self.afterCrash(of: path) { copy async throws in
        #expect(try await copy.session(lost.address) == nil)
        #expect(try await copy.session(second.address) == second)
        #expect(try await copy.session(first.address)?.state.status == .processing)
      }
      await store.close()
    }
  }

  @Test func `a transaction larger than memory reads what it wrote, and fails as a whole`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/s.sqlite"
      let store = try SQLiteStore(path: path, mode: .test)
      try await store.writer.perform { connection throws(StoreError) in
        // Pages that do not fit in the cache are written to the log before the commit.
        try connection.execute("PRAGMA cache_size = 10; CREATE TABLE large (number INTEGER PRIMARY KEY, bytes BLOB)")
      }
      let disk = SystemDisk(directory)
      @Sendable func fill(_ connection: SQLiteConnection, _ mark: Int) throws(StoreError) {
        for number in 0..<3_000 {
          try connection.run(
            "INSERT OR REPLACE INTO large VALUES ($1, $2)", .integer(number),
            .blob([UInt8](repeating: UInt8(mark), count: 900)))
        }
      }
      @Sendable func marks(_ connection: SQLiteConnection) throws(StoreError) -> [[UInt8]] {
        try connection.rows("SELECT DISTINCT substr(bytes, 900) FROM large", []) { $0.blob(0) }
      }
      let seen = try await store.writer.perform { connection throws(StoreError) -> [[UInt8]] in
        try fill(connection, 1)
        return try marks(connection)
      }
      #expect(seen == [[1]])
      // More than one call, since the log holds back 128 KiB at most.
      #expect(disk.takeWrites() > 1)
      for room in [0, 100_000, 1 << 20, 2_000_000] {
        disk.fill(after: room)
        await #expect(throws: StoreError.self) {
          try await store.writer.perform { connection throws(StoreError) in
            try fill(connection, 2)
            _ = try marks(connection)
          }
        }
        disk.empty()
        #expect(try await store.writer.perform(marks) == [[1]])
      }
      try await store.writer.perform { connection throws(StoreError) in try fill(connection, 3) }
      try await Self.afterCrash(of: path) { copy async throws in
        #expect(try await copy.lister.perform(marks) == [[3]])
      }
      await store.close()
    }
  }

  /// Opens a copy of the files, as they are, as another process would after this one was killed.
  private static func afterCrash(of path: String, _ body: (SQLiteStore) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: directory + "/s.sqlite" + suffix)
      }
      let copy = try SQLiteStore(path: directory + "/s.sqlite", mode: .test)
      try await body(copy)
      await copy.close()
    }
  }
}

/// Counts SQLite's writes to logs in one folder, and fails them as a full disk does. SQLite has one table of system
/// calls, so there is one at a time; files elsewhere are not affected.
private final class SystemDisk {
  private struct State {
    var folder = ""
    var writes = 0
    /// The bytes that still fit; nil for any number.
    var room: Int?
  }

  private static let state = Locked(State())

  init(_ folder: String) {
    Self.state.withLock { $0 = State(folder: folder) }
    set { file, bytes, count, offset in
      let room = SystemDisk.note(file, count)
      guard room > 0 || count == 0 else {
        errno = ENOSPC
        return -1
      }
      return pwrite(file, bytes, min(room, count), offset)
    }
  }

  deinit { set(nil) }

  private typealias Call = @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int

  private func set(_ call: Call?) {
    guard let system = sqlite3_vfs_find(nil) else { return }
    for name in ["pwrite", "pwrite64"] {
      _ = system.pointee.xSetSystemCall(system, name, unsafeBitCast(call, to: sqlite3_syscall_ptr?.self))
    }
  }

  private static func note(_ file: Int32, _ count: Int) -> Int {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")) ?? ""
    return state.withLock { state in
      guard path.hasPrefix(state.folder), path.hasSuffix("-wal") else { return count }
      state.writes += 1
      guard let room = state.room else { return count }
      state.room = max(0, room - count)
      return room
    }
  }

  func takeWrites() -> Int {
    Self.state.withLock { state in
      defer { state.writes = 0 }
      return state.writes
    }
  }

  func fill(after room: Int) { Self.state.withLock { $0.room = room } }

  func empty() { Self.state.withLock { $0.room = nil } }
}
