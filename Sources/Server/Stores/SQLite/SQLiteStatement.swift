import CSQLite
import Sessions

/// A value to bind.
enum SQLiteValue: Sendable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  static func optional(_ blob: [UInt8]?) -> SQLiteValue { blob.map { .blob($0) } ?? .null }
  static func optional(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }
  static func optional(_ number: Int64?) -> SQLiteValue { number.map { .integer($0) } ?? .null }
}

/// SQLITE_TRANSIENT: SQLite copies a bound value at once, so the value need not outlive the call.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// One prepared statement; it belongs to its connection's thread.
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ sql: String, on database: OpaquePointer) throws(StoreError) {
    var handle: OpaquePointer?
    let status = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard status == SQLITE_OK, let handle else { throw StoreError(sqlite: status, on: database) }
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds the values and steps through all rows. Resets the statement in any case, also after an error.
  func run(
    _ values: [SQLiteValue], on database: OpaquePointer, _ row: (SQLiteRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
    for (index, value) in values.enumerated() {
      let status = bind(value, at: Int32(index + 1))
      guard status == SQLITE_OK else { throw StoreError(sqlite: status, on: database) }
    }
    while true {
      let status = sqlite3_step(handle)
      switch status {
      case SQLITE_ROW: try row(SQLiteRow(handle: handle))
      case SQLITE_DONE: return
      default: throw StoreError(sqlite: status, on: database)
      }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let number): sqlite3_bind_int64(handle, index, number)
    case .text(let text): sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), copied)
    // An empty array has no address, and SQLite would bind NULL.
    case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, index, 0)
    case .blob(let bytes): sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), copied)
    }
  }
}

/// The current row of a statement. Columns are copied out, so they outlive the next step.
struct SQLiteRow: StoredRow {
  fileprivate let handle: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}

extension StoreError {
  /// Maps SQLite's result code: `unavailable` for a disk, a lock or memory that may be there later, else `corrupt`.
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
