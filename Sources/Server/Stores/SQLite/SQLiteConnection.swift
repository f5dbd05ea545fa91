import Base
import CSQLite
import Glibc
import Sessions

/// One connection and its prepared statements. Only one thread uses it.
package final class SQLiteConnection: DatabaseConnection {
  package static let dialect = Dialect(
    sessionKey: "seq", eventKey: ("session, ", "seq, "),
    isOfSession: "session = (SELECT seq FROM sessions WHERE id = $1)",
    isListed: "id IN (SELECT value FROM json_each($1))", using: { "INDEXED BY \($0)" }, position: "instr",
    metadata: "CAST(content AS TEXT) ->> 'metadata'",
    requestBytes: "length(requests)", forUpdate: "", forShare: "", skipLocked: "")

  let role: Role
  private let database: OpaquePointer
  /// Prepared statements by their SQL.
  private var statements: [String: OpaquePointer] = [:]
  var log = LogTruncation()
  /// The deadline of a reader's statement, in nanoseconds of the monotonic clock.
  private let deadline: UnsafeMutablePointer<Int64>
  /// The time of the last probe that wrote, in seconds of the monotonic clock.
  private var probed: Int64?

  enum Role { case writer, reader }

  init(path: String, role: Role) throws(StoreError) {
    let path = Self.filePath(path)
    if role == .writer { try Self.makePrivateFile(path) }
    var database: OpaquePointer?
    // Only one thread uses a connection, so SQLite's own locks are not needed.
    let flags = (role == .writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &database, flags, role == .writer ? JoinedLog.name : nil)
    guard status == SQLITE_OK, let database else {
      sqlite3_close_v2(database)
      throw StoreError(sqlite: status, on: nil)
    }
    self.role = role
    self.database = database
    deadline = .allocate(capacity: 1)
    deadline.initialize(to: .max)
    sqlite3_busy_timeout(database, Self.busyMilliseconds)
    try configure()
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(database)
    deadline.deallocate()
  }

  /// The maximum time that a call waits for another process's lock, such as a backup's.
  private static let busyMilliseconds: Int32 = 2_000

  /// The log size, in bytes, at which SQLite copies the log's pages into the file.
  private static let logBytes: Int64 = 16 << 20

  /// The path in a form that always means a file, even if it is ":memory:" or begins with "file:".
  static func filePath(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

  /// Creates the file so that only its owner can read it. SQLite gives the log and its index the same permissions.
  private static func makePrivateFile(_ path: String) throws(StoreError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unavailable("cannot open the store's file: \(FileFault.reason(errno))") }
    Glibc.close(file)
  }

  private func configure() throws(StoreError) {
    try execute("PRAGMA foreign_keys = ON")
    try execute("PRAGMA trusted_schema = OFF")
    guard role == .writer else {
      try execute("PRAGMA query_only = ON")
      // SQLite calls this handler after every 1,000 steps, which is every few microseconds. A result of 1 ends the
      // read.
      sqlite3_progress_handler(
        database, 1_000, { $0?.assumingMemoryBound(to: Int64.self).pointee ?? .max < Deadline.now() ? 1 : 0 }, deadline)
      return
    }
    // The page size applies only to a new file. A session changes few bytes of a page, but the log contains whole
    // pages. SQLite's default of 4096 writes three times as much data.
    try execute("PRAGMA page_size = 1024")
    try execute("PRAGMA journal_mode = WAL")
    // In WAL mode NORMAL does not sync the log at COMMIT. A power cut could then undo the consumption of a verified
    // response's challenge. The server could accept the same response twice.
    try execute("PRAGMA synchronous = FULL")
    // Every group changes the same few pages. A checkpoint copies each page into the file only once.
    let page = try first("PRAGMA page_size") { $0.integer(0) } ?? 4_096
    try execute("PRAGMA wal_autocheckpoint = \(Self.logBytes / max(page, 512))")
    // Deleted content is overwritten with zeros, not only unlinked.
    try execute("PRAGMA secure_delete = ON")
  }

  // MARK: Statements

  package func execute(_ sql: String) throws(StoreError) {
    let status = sqlite3_exec(database, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw StoreError(sqlite: status, on: database) }
  }

  @discardableResult
  package func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Int {
    try step(sql, values) { _ in }
    return Int(sqlite3_changes(database))
  }

  package func rows<Value>(
    _ sql: String, _ values: [SQLValue], _ read: (SQLiteRow) -> Value
  ) throws(StoreError) -> [Value] {
    var found: [Value] = []
    try step(sql, values) { found.append(read($0)) }
    return found
  }

  private func prepare(_ sql: String) throws(StoreError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    // SQLite treats `?1` as a number, but `$1` as a name.
    let numbered = sql.replacing("$", with: "?")
    let status = sqlite3_prepare_v3(database, numbered, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard status == SQLITE_OK, let statement else { throw StoreError(sqlite: status, on: database) }
    statements[sql] = statement
    return statement
  }

  /// Binds the values and steps through all rows. Resets the statement even after an error.
  private func step(_ sql: String, _ values: [SQLValue], _ row: (SQLiteRow) -> Void) throws(StoreError) {
    let statement = try prepare(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let status = value.bind(to: statement, at: Int32(index + 1))
      guard status == SQLITE_OK else { throw StoreError(sqlite: status, on: database) }
    }
    while true {
      let status = sqlite3_step(statement)
      switch status {
      case SQLITE_ROW: row(SQLiteRow(handle: statement))
      case SQLITE_DONE: return
      default: throw StoreError(sqlite: status, on: database)
      }
    }
  }

  // MARK: Transactions

  /// True while a transaction is open. SQLite may roll it back on its own, for example when the disk is full.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  func rollBack() {
    probed = nil
    // ROLLBACK fails only if there is nothing to roll back, so its result is ignored.
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

  package func atomically<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    try isInTransaction ? body() : transaction { _ throws(StoreError) in try body() }
  }

  package func run(
    _ sql: String, _ values: [SQLValue], finishing completion: IdempotencyCompletion?
  ) throws(StoreError) {
    try run(sql, values)
    if let completion { try finish(completion) }
  }

  /// Writers of all processes take turns (`BEGIN IMMEDIATE`), so the chain's last row cannot change during the append.
  package func append(_ entry: AuditEntry, to node: NodeName) throws(StoreError) {
    let link = AuditLink(entry, after: try auditHead(of: node, nil) ?? AuditHead(beginning: node))
    try run(
      "INSERT INTO audit (node, sequence, entry, hash, relying_party) VALUES ($1, $2, $3, $4, $5)", .text(node.text),
      .integer(link.head.sequence), .blob(link.entry), .blob(link.head.hash), .text(entry.address.relyingParty))
  }

  /// Finds each next node name through the index, since the table may contain many entries.
  package func auditHeads(of relyingParty: String?) throws(StoreError) -> [AuditHead] {
    let own: [SQLValue] = relyingParty.map { [.text($0)] } ?? []
    let next = "SELECT min(node) FROM audit WHERE node > $1 \(own.isEmpty ? "" : "AND relying_party = $2")"
    var heads: [AuditHead] = []
    var previous = ""
    while let name = try rows(next, [.text(previous)] + own, { $0.optionalText(0) }).first, let name {
      guard let node = NodeName(name), let head = try auditHead(of: node, relyingParty) else {
        throw .corrupt("a node's name")
      }
      heads.append(head)
      previous = name
    }
    return heads
  }

  package func noteErasure() { log.isDue = true }

  // MARK: The file

  /// Checks that the path still leads to the open file. Otherwise consumed challenges become open again after the
  /// process ends.
  func checkInPlace() throws(StoreError) {
    var hasMoved: Int32 = 0
    let status = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard status == SQLITE_OK, hasMoved == 0 else {
      throw .unavailable("the store's file was deleted, moved or replaced")
    }
  }

  /// Checks whether the disk is full or read-only, with at most one write per second.
  func proveWritable(in second: Int64 = Deadline.now() / 1_000_000_000) throws(StoreError) {
    guard probed != second else { return }
    try execute("PRAGMA user_version = 1")
    probed = second
  }

  /// Limits the time of the next read. At the limit the read throws `unavailable`.
  func allowRead(_ duration: Duration) { deadline.pointee = Deadline(in: duration).nanoseconds }

  /// Empties the log without waiting, if this is due and no reader uses the log. The time is in milliseconds.
  func truncateLog(at now: Int64) {
    guard log.wait(at: now) == 0 else { return }
    sqlite3_busy_timeout(database, 0)
    defer { sqlite3_busy_timeout(database, Self.busyMilliseconds) }
    let isBusy = try? first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) != 0 }
    log.tried(isBusy: isBusy != false, at: now)
  }
}

/// SQLITE_TRANSIENT: SQLite copies a bound value at once.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension SQLValue {
  fileprivate func bind(to handle: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .integer(nil), .text(nil), .blob(nil): sqlite3_bind_null(handle, index)
    case .integer(let number?): sqlite3_bind_int64(handle, index, number)
    case .text(let text?): sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), copied)
    // An empty array has no address. `sqlite3_bind_blob` binds NULL without an address.
    case .blob(let bytes?) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, index, 0)
    case .blob(let bytes?): sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), copied)
    case .texts(let texts):
      SQLValue.text(JSON.array(texts.map { .string($0) }).text()).bind(to: handle, at: index)
    case .integers(let numbers):
      SQLValue.text(JSON.array(numbers.map { .integer($0) }).text()).bind(to: handle, at: index)
    case .blobs: preconditionFailure("SQLite has no arrays of bytes")
    }
  }
}

/// The current row of a statement. Returned columns are copies, so they remain valid after the next step.
package struct SQLiteRow: StoredRow {
  fileprivate let handle: OpaquePointer

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  private static let end = UInt8(ascii: "\n")

  /// Three columns of text, with one line for each offer, in order. A material is in hexadecimal.
  package static func values(of offers: [ProtocolOffer]) -> [SQLValue] {
    let hasMaterial = offers.contains { $0.sealedMaterial != nil }
    return [
      .text(offers.map(\.protocolName).joined(separator: "\n")),
      .blob(Array(offers.map(\.data.bytes).joined(separator: CollectionOfOne(end)))),
      .text(hasMaterial ? offers.map { Hex.encode($0.sealedMaterial ?? []) }.joined(separator: "\n") : nil),
    ]
  }

  package func offers(_ column: Int32) -> [SessionRow.Offer] {
    let materials = text(column + 2).split(separator: "\n", omittingEmptySubsequences: false)
    return SessionRow.offers(
      text(column).split(separator: "\n").map(String.init), blob(column + 1).split(separator: Self.end).map(Array.init),
      materials.map { $0.isEmpty ? nil : Hex.decode($0) })
  }
}

extension StoreError {
  /// Maps SQLite's result code: `unavailable` if the cause may be temporary, such as a full disk or a held lock;
  /// otherwise `corrupt`.
  init(sqlite status: Int32, on database: OpaquePointer?) {
    let extended = database.map { sqlite3_extended_errcode($0) } ?? status
    let name = "SQLite \(extended): \(String(cString: sqlite3_errstr(status)))"
    switch status & 0xff {
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_NOMEM,
      SQLITE_PERM, SQLITE_PROTOCOL, SQLITE_INTERRUPT, SQLITE_ABORT:
      self = .unavailable(name)
    default: self = .corrupt(name)
    }
  }
}

/// Schedules when to empty the log, which still contains erased pages. A reader, such as a backup, prevents this. The
/// writer then retries after increasing pauses, from 100 ms to 5 s.
struct LogTruncation {
  /// True after every erasure of data; false again once the log is empty.
  var isDue = false { didSet { if isDue, !oldValue { (pause, next) = (100, .min) } } }
  private(set) var tries = 0
  private var pause: Int64 = 100
  private var next = Int64.min

  /// The milliseconds until the next attempt, 0 if it is due now; nil if there is nothing to empty.
  func wait(at now: Int64) -> Int64? { isDue ? max(0, next == .min ? 0 : next - now) : nil }

  /// - Parameter isBusy: true if a reader prevented emptying the log.
  mutating func tried(isBusy: Bool, at now: Int64) {
    tries += 1
    isDue = isBusy
    (pause, next) = (min(pause * 2, 5_000), now + pause)
  }
}
