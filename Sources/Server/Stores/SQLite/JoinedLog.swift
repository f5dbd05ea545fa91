import CSQLite
import Glibc

/// SQLite's file system with one difference: it writes the pages of a commit to the write-ahead log in one call.
///
/// SQLite itself writes the header and the content of each page separately. Here these writes are held back until SQLite
/// syncs or reads the log. It syncs the log before any reader can see the commit (`synchronous = FULL`).
///
/// If the joined write fails, the sync fails, and so does the commit. The bytes are then dropped. Reading them and writing
/// after them fail until SQLite writes them again, as it does after the rollback.
enum JoinedLog {
  /// The name of the file system in `sqlite3_open_v2`; nil if SQLite cannot register it.
  static let name: String? = isRegistered ? registeredName : nil

  private static let registeredName = "mdoc-joined-log"

  private static let isRegistered: Bool = {
    guard let original = system else { return false }
    // SQLite keeps the structure and its name for the life of the process.
    let joined = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    joined.initialize(to: original.pointee)
    joined.pointee.szOsFile += Int32(LogFile.size)
    joined.pointee.zName = UnsafePointer(strdup(registeredName))
    joined.pointee.pNext = nil
    joined.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let system, let file else { return SQLITE_CANTOPEN }
      // Other files are the system's own.
      guard flags & SQLITE_OPEN_WAL != 0 else { return system.pointee.xOpen(system, path, file, flags, outFlags) }
      return LogFile.open(file, by: system, path, flags, outFlags)
    }
    return sqlite3_vfs_register(joined, 0) == SQLITE_OK
  }()
}

/// The file system that SQLite uses by default.
// `nonisolated(unsafe)`: set once, and SQLite never changes it.
nonisolated(unsafe) private let system = sqlite3_vfs_find(nil)

/// The log's file. SQLite provides the memory for this structure and for the system's own, which follows it.
private struct LogFile {
  /// Must be first: SQLite finds the file's methods in it.
  var file: sqlite3_file
  let inner: UnsafeMutablePointer<sqlite3_file>
  /// Bytes that are not written yet, and their offset in the file.
  var held: UnsafeMutableRawBufferPointer
  var count = 0
  var offset: Int64 = 0
  /// The result of the write that failed, and the first offset whose bytes it lost.
  var failure: (status: Int32, offset: Int64)?

  /// Larger transactions are written in parts. SQLite's own files take less than 128 KiB in one call.
  static let capacity = (1 << 17) - 16

  static let size = (MemoryLayout<LogFile>.size + 15) & ~15

  private static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<LogFile> {
    guard let file else { preconditionFailure("SQLite passes the file") }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: LogFile.self)
  }

  static func open(
    _ file: UnsafeMutablePointer<sqlite3_file>, by system: UnsafeMutablePointer<sqlite3_vfs>,
    _ path: UnsafePointer<CChar>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let memory = UnsafeMutableRawPointer(file)
    let inner = (memory + size).assumingMemoryBound(to: sqlite3_file.self)
    // Without methods, SQLite does not close the file.
    file.pointee.pMethods = nil
    let status = system.pointee.xOpen(system, path, inner, flags, outFlags)
    guard status == SQLITE_OK else {
      if inner.pointee.pMethods != nil { _ = inner.pointee.pMethods.pointee.xClose(inner) }
      return status
    }
    memory.initializeMemory(
      as: LogFile.self,
      to: LogFile(
        file: sqlite3_file(pMethods: methods), inner: inner,
        held: .allocate(byteCount: capacity, alignment: 16)))
    return SQLITE_OK
  }

  private var calls: sqlite3_io_methods { inner.pointee.pMethods.pointee }

  // MARK: What SQLite calls

  // `nonisolated(unsafe)`: never changed.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 1
    methods.pointee.xClose = { file in
      let log = LogFile.of(file)
      let (written, inner) = (log.pointee.flush(), log.pointee.inner)
      log.pointee.held.deallocate()
      let closed = inner.pointee.pMethods.pointee.xClose(inner)
      return written == SQLITE_OK ? closed : written
    }
    methods.pointee.xRead = { file, bytes, count, offset in
      LogFile.of(file).pointee.read(bytes, count, at: offset)
    }
    methods.pointee.xWrite = { file, bytes, count, offset in
      LogFile.of(file).pointee.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
    }
    methods.pointee.xTruncate = { file, size in
      LogFile.of(file).pointee.flushed { $0.calls.xTruncate($0.inner, size) }
    }
    methods.pointee.xSync = { file, flags in LogFile.of(file).pointee.flushed { $0.calls.xSync($0.inner, flags) } }
    methods.pointee.xFileSize = { file, size in
      LogFile.of(file).pointee.flushed { $0.calls.xFileSize($0.inner, size) }
    }
    methods.pointee.xFileControl = { file, operation, argument in
      LogFile.of(file).pointee.flushed { $0.calls.xFileControl($0.inner, operation, argument) }
    }
    methods.pointee.xLock = { file, level in LogFile.of(file).pointee.flushed { $0.calls.xLock($0.inner, level) } }
    methods.pointee.xUnlock = { file, level in LogFile.of(file).pointee.flushed { $0.calls.xUnlock($0.inner, level) } }
    methods.pointee.xCheckReservedLock = { file, result in
      LogFile.of(file).pointee.flushed { $0.calls.xCheckReservedLock($0.inner, result) }
    }
    methods.pointee.xSectorSize = { file in LogFile.of(file).pointee.calls.xSectorSize(LogFile.of(file).pointee.inner) }
    methods.pointee.xDeviceCharacteristics = { file in
      LogFile.of(file).pointee.calls.xDeviceCharacteristics(LogFile.of(file).pointee.inner)
    }
    return UnsafePointer(methods)
  }()

  // MARK: Held bytes

  /// Holds the bytes. If they do not follow the held bytes or do not fit, writes the held bytes first. A page has at most
  /// 64 KiB, so it always fits.
  private mutating func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Int32 {
    if let failure {
      guard start <= failure.offset else { return failure.status }
      self.failure = nil
    }
    if start != offset + Int64(count) || count + bytes.count > held.count {
      let status = flush()
      guard status == SQLITE_OK else { return status }
      offset = start
    }
    UnsafeMutableRawBufferPointer(rebasing: held[count...]).copyMemory(from: bytes)
    count += bytes.count
    return SQLITE_OK
  }

  private mutating func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int32, at start: Int64) -> Int32 {
    flushed { log in
      if let failure = log.failure, start + Int64(count) > failure.offset { return failure.status }
      return log.calls.xRead(log.inner, bytes, count, start)
    }
  }

  private mutating func flush() -> Int32 {
    guard count > 0 else { return SQLITE_OK }
    let status = calls.xWrite(inner, held.baseAddress, Int32(count), offset)
    if status != SQLITE_OK { failure = (status, offset) }
    offset += Int64(count)
    count = 0
    return status
  }

  /// Calls the system once the held bytes are written.
  private mutating func flushed(_ call: (LogFile) -> Int32) -> Int32 {
    let status = flush()
    return status == SQLITE_OK ? call(self) : status
  }
}
