import Base
import Glibc

/// Reads and writes files by their paths. The faults tell a person what to do.
enum FileAccess {
  /// The most bytes that are read of any file: enough for the largest answer in hexadecimal. A device without an end,
  /// or a wrong file of gigabytes, costs no more than this.
  static let limit = 8 << 20

  /// Reads one of the caller's own files. Throws if it is empty or larger than `limit`.
  ///
  /// - Parameter purpose: what the file is, for the message.
  static func read(_ path: String, purpose: String) throws(Failure) -> [UInt8] {
    let bytes = try readPrefix(path, purpose: purpose)
    guard bytes.count <= limit else { throw .unreadable("\(purpose) \(path): is larger than \(limit >> 20) MiB") }
    guard !bytes.isEmpty else { throw .unreadable("\(purpose) \(path): is empty") }
    return bytes
  }

  /// Reads a file that may hold anything. It is cut off one byte past the limit.
  static func readPrefix(_ path: String, purpose: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable("\(purpose) \(path): \(reason(errno))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable("\(purpose) \(path): \(reason(errno))") }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return Array(bytes.prefix(limit + 1))
  }

  /// Writes a file that anyone may read. Replaces an existing file.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
  }

  /// Writes a file that only its owner may read. Throws if the path exists.
  static func writeSecret(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
  }

  /// Writes a file that anyone may read. Throws if the path exists.
  static func writeNew(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
  }

  /// Writes all of these files or none; anyone may read them. Throws if one of the paths exists.
  ///
  /// Each file is first written beside its place, under a name that no loader reads.
  static func writeAllNew(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) {
    let suffix = ".\(getpid()).new"
    var made: [String] = []
    defer { for path in made { unlink(path) } }
    for file in files {
      made.append(file.path + suffix)
      try writeNew(file.bytes, to: file.path + suffix)
    }
    var placed: [String] = []
    for file in files {
      // A hard link, unlike a rename, fails if the name is taken.
      guard link(file.path + suffix, file.path) == 0 else {
        let code = errno
        for path in placed { unlink(path) }
        throw .unreadable("\(file.path): can't be written, and nothing was: \(reason(code))")
      }
      placed.append(file.path)
    }
  }

  /// Whether the path exists, even as a link that leads nowhere.
  static func exists(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0 || errno != ENOENT
  }

  static func makeFolder(_ path: String) throws(Failure) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .unreadable("\(path): \(reason(errno))") }
  }

  /// Makes a folder. Throws if the path exists.
  static func makeNewFolder(_ path: String, mode: mode_t = 0o755) throws(Failure) {
    guard mkdir(path, mode) == 0 else { throw .unreadable("\(path): can't be made: \(reason(errno))") }
  }

  private static func write(_ bytes: [UInt8], to path: String, flags: Int32, mode: mode_t) throws(Failure) {
    let descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .unreadable("\(path): can't be written: \(reason(errno))") }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let code = errno
        close(descriptor)
        throw .temporary("\(path): can't be written: \(reason(code))")
      }
      rest = rest.dropFirst(count)
    }
    guard close(descriptor) == 0 else { throw .temporary("\(path): can't be written: \(reason(errno))") }
  }

  static func reason(_ code: Int32) -> String { FileFault.reason(code) }
}

/// A new file that is written piece by piece and that only its owner may read. Throws if the path exists.
final class NewFile {
  private let path: String
  private var descriptor: Int32

  init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .unreadable("\(path): can't be written: \(FileAccess.reason(errno))") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func write(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .temporary("\(path): can't be written: \(FileAccess.reason(errno))") }
      rest = rest.dropFirst(count)
    }
  }

  /// Flushes the file to the disk and closes it.
  func finish() throws(Failure) {
    let isWritten = fsync(descriptor) == 0 || errno == EINVAL
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isWritten, isClosed else { throw .temporary("\(path): can't be written: \(FileAccess.reason(errno))") }
  }
}

/// Reads a file of lines, however long, and holds one line at a time.
enum LineFile {
  /// The most bytes of one line.
  private static let limit = 1 << 20

  /// Calls `take` with each line that is not empty, and with its number, from 1.
  static func read(
    _ path: String, purpose: String, _ take: (_ line: [UInt8], _ number: Int) -> Void
  ) throws(Failure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable("\(purpose) \(path): \(FileAccess.reason(errno))") }
    defer { close(descriptor) }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var line: [UInt8] = []
    var number = 1
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable("\(purpose) \(path): \(FileAccess.reason(errno))") }
      if count == 0 { break }
      var rest = chunk[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line += rest[..<end]
        if !line.isEmpty { take(line, number) }
        line.removeAll(keepingCapacity: true)
        number += 1
        rest = rest[(end + 1)...]
      }
      line += rest
      guard line.count <= limit else { throw .unreadable("\(purpose) \(path): line \(number) is too long") }
    }
    if !line.isEmpty { take(line, number) }
  }
}
