import Base
import CSQLite
import Glibc
import Sessions

/// One connection, used by one thread, with its prepared statements.
final class SQLiteConnection {
  private let database: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  var log = LogTruncation()
  /// Until when a read may go on, in nanoseconds of the monotonic clock; of a reader alone.
  private let deadline: UnsafeMutablePointer<Int64>
  /// The second of the monotonic clock in which a write was last tried for a probe.
  private var probed: Int64?

  enum Role { case writer, reader }

  init(path: String, role: Role) throws(StoreError) {
    let path = Self.filePath(path)
    if role == .writer { try Self.makePrivateFile(path) }
    var database: OpaquePointer?
    // A connection is used by one thread only: SQLite's own locks are not needed.
    let flags = (role == .writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &database, flags, nil)
    guard status == SQLITE_OK, let database else {
      sqlite3_close_v2(database)
      throw StoreError(sqlite: status, on: nil)
    }
    self.database = database
    deadline = .allocate(capacity: 1)
    deadline.initialize(to: .max)
    sqlite3_busy_timeout(database, Self.busyMilliseconds)
    try configure(role)
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(database)
    deadline.deallocate()
  }

  /// Another process that holds the file, a backup say, is waited for; then the call fails and nothing was done.
  private static let busyMilliseconds: Int32 = 2_000

  /// Of the log, before its pages are copied into the file.
  private static let logBytes: Int64 = 16 << 20

  /// A file, whatever it is called: to SQLite ":memory:" is a store in memory, and "file:" begins a URI.
  static func filePath(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

  /// Made by us and not by SQLite, so that nobody else can read it; the log and its index take the same rights.
  private static func makePrivateFile(_ path: String) throws(StoreError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unavailable("cannot open the store's file: \(FileFault.reason(errno))") }
    Glibc.close(file)
  }

  private func configure(_ role: Role) throws(StoreError) {
    try execute("PRAGMA foreign_keys = ON")
    try execute("PRAGMA trusted_schema = OFF")
    guard role == .writer else {
      try execute("PRAGMA query_only = ON")
      // Asked after so many steps of SQLite's machine, some microseconds' worth; it then ends the read.
      sqlite3_progress_handler(
        database, 1_000, { $0?.assumingMemoryBound(to: Int64.self).pointee ?? .max < Deadline.now() ? 1 : 0 }, deadline)
      return
    }
    // Of a new file; an older one keeps its own. A session changes few bytes of a page, and the log takes whole pages:
    // with SQLite's own 4096 a session writes twice as much.
    try execute("PRAGMA page_size = 2048")
    try execute("PRAGMA journal_mode = WAL")
    // FULL, not NORMAL: in WAL mode NORMAL does not sync the log at COMMIT, so that a power cut could undo the consume
    // of a challenge whose answer was already verified, and the same answer would be accepted twice.
    try execute("PRAGMA synchronous = FULL")
    // A page that every group changes is copied from the log once in so many pages.
    let page = try first("PRAGMA page_size") { $0.integer(0) } ?? 4_096
    try execute("PRAGMA wal_autocheckpoint = \(Self.logBytes / max(page, 512))")
    // Deleted content is overwritten with zeros, not only unlinked.
    try execute("PRAGMA secure_delete = ON")
  }

  // MARK: Statements

  func execute(_ sql: String) throws(StoreError) {
    let status = sqlite3_exec(database, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw StoreError(sqlite: status, on: database) }
  }

  /// Runs a statement and returns the number of rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: SQLiteValue...) throws(StoreError) -> Int { try run(sql, values) }

  @discardableResult
  func run(_ sql: String, _ values: [SQLiteValue]) throws(StoreError) -> Int {
    try statement(sql).run(values, on: database) { _ throws(StoreError) in }
    return Int(sqlite3_changes(database))
  }

  func rows<Value>(
    _ sql: String, _ values: [SQLiteValue], _ read: (SQLiteRow) -> Value
  ) throws(StoreError) -> [Value] {
    var found: [Value] = []
    try statement(sql).run(values, on: database) { row throws(StoreError) in found.append(read(row)) }
    return found
  }

  func first<Value>(
    _ sql: String, _ values: SQLiteValue..., read: (SQLiteRow) -> Value
  ) throws(StoreError) -> Value? {
    try rows(sql, values, read).first
  }

  private func statement(_ sql: String) throws(StoreError) -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    let statement = try SQLiteStatement(sql, on: database)
    statements[sql] = statement
    return statement
  }

  // MARK: Transactions

  /// False also after SQLite has rolled back by itself, as it may when the disk is full.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  func rollBack() {
    probed = nil
    // Fails only where there is nothing to roll back.
    if isInTransaction { sqlite3_exec(database, "ROLLBACK", nil, nil, nil) }
  }

  func transaction<Value>(
    _ begin: String = "BEGIN IMMEDIATE", _ body: (SQLiteConnection) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try run(begin)
    do throws(StoreError) {
      let value = try body(self)
      try run("COMMIT")
      return value
    } catch {
      rollBack()
      throw error
    }
  }

  /// Throws where the path leads to this file no more. What is written to a deleted or replaced file is lost with the
  /// process, and a challenge that was consumed there would be open again.
  func checkInPlace() throws(StoreError) {
    var hasMoved: Int32 = 0
    let status = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard status == SQLITE_OK, hasMoved == 0 else {
      throw .unavailable("the store's file was deleted, moved or replaced")
    }
  }

  /// Writes a page that means nothing, which a full or read-only disk refuses; at most once a second, since anybody may
  /// ask for it.
  func proveWritable(in second: Int64 = Deadline.now() / 1_000_000_000) throws(StoreError) {
    guard probed != second else { return }
    try execute("PRAGMA user_version = 1")
    probed = second
  }

  /// From now on a read may take so long; beyond, it is ended as `unavailable`.
  func allowRead(_ duration: Duration) { deadline.pointee = Deadline(in: duration).nanoseconds }

  /// Empties the log if that is due, unless somebody reads it: nobody is waited for.
  /// - Parameter now: milliseconds.
  func truncateLog(at now: Int64) {
    guard log.wait(at: now) == 0 else { return }
    sqlite3_busy_timeout(database, 0)
    defer { sqlite3_busy_timeout(database, Self.busyMilliseconds) }
    let isBusy = try? first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) != 0 }
    log.tried(isBusy: isBusy != false, at: now)
  }
}

/// When the log is to be emptied after an erasure: it still holds the pages as they were.
///
/// A reader, a backup say, keeps the log as long as it reads. It is then tried again after ever longer pauses, and never
/// waited for.
struct LogTruncation {
  private static let pauses: ClosedRange<Int64> = 100...5_000

  /// Set by what erases data, until the log is empty.
  var isDue = false { didSet { if isDue, !oldValue { reset() } } }
  private(set) var tries = 0
  private var pause = pauses.lowerBound
  private var next = Int64.min

  /// Milliseconds until it is to be tried, 0 where that is now; nil where nothing is due.
  func wait(at now: Int64) -> Int64? { isDue ? max(0, next == .min ? 0 : next - now) : nil }

  /// - Parameter isBusy: whether somebody read the log.
  mutating func tried(isBusy: Bool, at now: Int64) {
    tries += 1
    guard isBusy else {
      isDue = false
      return
    }
    next = now + pause
    pause = min(pause * 2, Self.pauses.upperBound)
  }

  private mutating func reset() {
    pause = Self.pauses.lowerBound
    next = .min
  }
}
