import CSQLite
import Glibc

/// SQLite's file system, except that it writes a commit's pages to the write-ahead log in one call.
///
/// SQLite itself writes the header and the content of each page separately. This file system buffers these writes until
/// SQLite syncs or reads the log. SQLite syncs the log before any reader can see the commit (`synchronous = FULL`).
///
/// If the joined write fails, the sync fails, and so does the commit. The buffered bytes are then discarded. Reading
/// these bytes or writing after them fails until SQLite writes them again. SQLite does so after the rollback.
enum JoinedLog {
  /// The name of the file system in `sqlite3_open_v2`; nil if SQLite cannot register it.
  static let name: String? = {
    guard let original = system else { return nil }
    let name = "mdoc-joined-log"
    // SQLite uses the structure and its name until the process ends.
    let joined = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    joined.initialize(to: original.pointee)
    joined.pointee.szOsFile += Int32(LogFile.size)
    joined.pointee.zName = UnsafePointer(strdup(name))
    joined.pointee.pNext = nil
    joined.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let system, let file else { return SQLITE_CANTOPEN }
      // The default file system opens all other files.
      guard flags & SQLITE_OPEN_WAL != 0 else { return system.pointee.xOpen(system, path, file, flags, outFlags) }
      let inner = (UnsafeMutableRawPointer(file) + LogFile.size).assumingMemoryBound(to: sqlite3_file.self)
      // Without methods, SQLite does not close the file.
      file.pointee.pMethods = nil
      let status = system.pointee.xOpen(system, path, inner, flags, outFlags)
      if status == SQLITE_OK {
        LogFile.initialize(file, inner)
      } else {
        _ = inner.pointee.pMethods?.pointee.xClose(inner)
      }
      return status
    }
    return sqlite3_vfs_register(joined, 0) == SQLITE_OK ? name : nil
  }()
}

/// The file system that SQLite uses by default.
// `nonisolated(unsafe)`, since it is set once and SQLite never changes it.
nonisolated(unsafe) private let system = sqlite3_vfs_find(nil)

/// The log's file. SQLite allocates this structure and, directly after it, the default file system's own structure.
private struct LogFile {
  /// Must be first: SQLite finds the file's methods in it.
  let file: sqlite3_file
  let inner: UnsafeMutablePointer<sqlite3_file>
  /// Bytes that are not written yet, and their offset in the file.
  let held: UnsafeMutableRawBufferPointer
  var count = 0
  var offset: Int64 = 0
  /// The failed write's result code, and the first offset whose bytes were lost.
  var failure: (status: Int32, offset: Int64)?

  /// Larger transactions are written in parts. SQLite's own file system accepts less than 128 KiB in one call.
  private static let capacity = (1 << 17) - 16

  static let size = (MemoryLayout<LogFile>.size + 15) & ~15

  static func initialize(_ file: UnsafeMutablePointer<sqlite3_file>, _ inner: UnsafeMutablePointer<sqlite3_file>) {
    let held = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    UnsafeMutableRawPointer(file).initializeMemory(
      as: LogFile.self, to: LogFile(file: sqlite3_file(pMethods: methods), inner: inner, held: held))
  }

  /// Calls `body` with the log's file and the default file system's methods.
  private static func with(
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ body: (inout LogFile, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    let log = UnsafeMutableRawPointer(file).assumingMemoryBound(to: LogFile.self)
    return body(&log.pointee, log.pointee.inner.pointee.pMethods.pointee)
  }

  /// The file methods that SQLite calls. SQLite never locks the log.
  // `nonisolated(unsafe)`, since it never changes.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 1
    methods.pointee.xClose = { file in
      LogFile.with(file) { log, calls in
        let written = log.flush()
        log.held.deallocate()
        let closed = calls.xClose(log.inner)
        return written == SQLITE_OK ? closed : written
      }
    }
    methods.pointee.xRead = { file, bytes, count, offset in
      LogFile.with(file) { log, calls in
        let status = log.flush()
        if let failure = log.failure, offset + Int64(count) > failure.offset { return failure.status }
        return status == SQLITE_OK ? calls.xRead(log.inner, bytes, count, offset) : status
      }
    }
    methods.pointee.xWrite = { file, bytes, count, offset in
      LogFile.with(file) { log, _ in log.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset) }
    }
    methods.pointee.xTruncate = { file, size in
      LogFile.with(file) { log, calls in log.flushed { calls.xTruncate($0, size) } }
    }
    methods.pointee.xSync = { file, flags in
      LogFile.with(file) { log, calls in log.flushed { calls.xSync($0, flags) } }
    }
    methods.pointee.xFileSize = { file, size in
      LogFile.with(file) { log, calls in log.flushed { calls.xFileSize($0, size) } }
    }
    methods.pointee.xFileControl = { file, operation, argument in
      LogFile.with(file) { log, calls in calls.xFileControl(log.inner, operation, argument) }
    }
    methods.pointee.xLock = { _, _ in SQLITE_OK }
    methods.pointee.xUnlock = { _, _ in SQLITE_OK }
    methods.pointee.xCheckReservedLock = { _, _ in SQLITE_OK }
    methods.pointee.xDeviceCharacteristics = { file in
      LogFile.with(file) { log, calls in calls.xDeviceCharacteristics(log.inner) }
    }
    return UnsafePointer(methods)
  }()

  /// Buffers the bytes in `held`. If they do not follow the held bytes or do not fit, writes the held bytes first. A
  /// page has at most 64 KiB, so it always fits.
  private mutating func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Int32 {
    if let failure, start > failure.offset { return failure.status }
    failure = nil
    if start != offset + Int64(count) || count + bytes.count > held.count {
      let status = flush()
      guard status == SQLITE_OK else { return status }
      offset = start
    }
    UnsafeMutableRawBufferPointer(rebasing: held[count...]).copyMemory(from: bytes)
    count += bytes.count
    return SQLITE_OK
  }

  private mutating func flush() -> Int32 {
    guard count > 0 else { return SQLITE_OK }
    let status = inner.pointee.pMethods.pointee.xWrite(inner, held.baseAddress, Int32(count), offset)
    if status != SQLITE_OK { failure = (status, offset) }
    offset += Int64(count)
    count = 0
    return status
  }

  /// Writes the held bytes, then calls the default file system.
  private mutating func flushed(_ call: (UnsafeMutablePointer<sqlite3_file>) -> Int32) -> Int32 {
    let status = flush()
    return status == SQLITE_OK ? call(inner) : status
  }
}
