import Base
import CSQLite
import Glibc
import Sessions

/// One connection and its prepared statements. Only one thread uses it.
final class SQLiteConnection {
  private let database: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  var log = LogTruncation()
  /// The time at which a reader's statement is ended, in nanoseconds of the monotonic clock. A writer has no such
  /// limit.
  private let deadline: UnsafeMutablePointer<Int64>
  /// The second of the monotonic clock in which a probe last tried a write.
  private var probed: Int64?

  enum Role { case writer, reader }

  init(path: String, role: Role) throws(StoreError) {
    let path = Self.filePath(path)
    if role == .writer { try Self.makePrivateFile(path) }
    var database: OpaquePointer?
    // Only one thread uses a connection, so SQLite's own locks are not needed.
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

  /// How long a call waits for another process that holds the file, such as a backup. After that the call fails and
  /// nothing was done.
  private static let busyMilliseconds: Int32 = 2_000

  /// The log's size, in bytes, at which its pages are copied into the file.
  private static let logBytes: Int64 = 16 << 20

  /// The path in a form that SQLite takes for a file. It would take ":memory:" for a store in memory, and "file:" for
  /// the beginning of a URI.
  static func filePath(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

  /// Makes the file here and not in SQLite, so that only its owner can read it. SQLite gives the log and its index the
  /// same rights.
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
      // SQLite calls this after every 1,000 steps of its virtual machine, that is every few microseconds. A result of 1
      // ends the read.
      sqlite3_progress_handler(
        database, 1_000, { $0?.assumingMemoryBound(to: Int64.self).pointee ?? .max < Deadline.now() ? 1 : 0 }, deadline)
      return
    }
    // Applies to a new file; an older file keeps its own size. A session changes few bytes of a page, and the log takes
    // whole pages: with SQLite's default of 4096, a session writes twice as much.
    try execute("PRAGMA page_size = 2048")
    try execute("PRAGMA journal_mode = WAL")
    // FULL, not NORMAL: in WAL mode NORMAL does not sync the log at COMMIT, so that a power cut could undo the consume
    // of a challenge whose answer was already verified, and the same answer would be accepted twice.
    try execute("PRAGMA synchronous = FULL")
    // A larger log is cheaper: every group changes the same few pages, and each is copied into the file once per
    // checkpoint.
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

  /// Also false after SQLite has rolled back by itself, as it may when the disk is full.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  func rollBack() {
    probed = nil
    // ROLLBACK fails only if there is nothing to roll back, so its result is not looked at.
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

  /// Checks that the path still leads to the open file. Data written to a deleted or replaced file are lost when the
  /// process ends: a challenge that was consumed there would be open again.
  ///
  /// - Throws: `unavailable` if the file was deleted, moved or replaced.
  func checkInPlace() throws(StoreError) {
    var hasMoved: Int32 = 0
    let status = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard status == SQLITE_OK, hasMoved == 0 else {
      throw .unavailable("the store's file was deleted, moved or replaced")
    }
  }

  /// Writes a value without meaning, to find out whether the disk is full or read-only. Writes at most once a second,
  /// since anybody may request a probe.
  func proveWritable(in second: Int64 = Deadline.now() / 1_000_000_000) throws(StoreError) {
    guard probed != second else { return }
    try execute("PRAGMA user_version = 1")
    probed = second
  }

  /// Gives the next read this much time. A read that takes longer ends as `unavailable`.
  func allowRead(_ duration: Duration) { deadline.pointee = Deadline(in: duration).nanoseconds }

  /// Empties the log if that is due and no reader uses it. It never waits for a reader.
  ///
  /// - Parameter now: milliseconds.
  func truncateLog(at now: Int64) {
    guard log.wait(at: now) == 0 else { return }
    sqlite3_busy_timeout(database, 0)
    defer { sqlite3_busy_timeout(database, Self.busyMilliseconds) }
    let isBusy = try? first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) != 0 }
    log.tried(isBusy: isBusy != false, at: now)
  }
}

/// When to empty the log after an erasure, because the log still holds the pages from before it.
///
/// A reader, such as a backup, keeps the log as long as it reads. The writer then tries again after ever longer pauses,
/// 100 ms to 5 s, and never waits for the reader.
struct LogTruncation {
  private static let pauses: ClosedRange<Int64> = 100...5_000

  /// Set by every erasure of data; false again once the log is empty.
  var isDue = false { didSet { if isDue, !oldValue { reset() } } }
  private(set) var tries = 0
  private var pause = pauses.lowerBound
  private var next = Int64.min

  /// The milliseconds until the next try, 0 for now; nil if nothing is due.
  func wait(at now: Int64) -> Int64? { isDue ? max(0, next == .min ? 0 : next - now) : nil }

  /// - Parameter isBusy: whether a reader used the log, so that it could not be emptied.
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
