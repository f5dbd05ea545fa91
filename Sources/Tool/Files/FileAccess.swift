import Base
import Glibc
import Sessions

/// Reads and writes files by their paths.
enum FileAccess {
  /// The maximum number of bytes to read from a file, even from an endless file. It is enough for the largest response
  /// in hexadecimal.
  static let limit = 8 << 20

  /// Reads a whole input file, such as a key or a request. Throws if it is empty or larger than `limit`.
  static func read(_ path: String, purpose: String) throws(Failure) -> [UInt8] {
    let bytes = try readPrefix(path, purpose: purpose)
    guard bytes.count <= limit else { throw .unreadable("\(purpose) \(path): is larger than \(limit >> 20) MiB") }
    guard !bytes.isEmpty else { throw .unreadable("\(purpose) \(path): is empty") }
    return bytes
  }

  /// Reads a file of any content. Reading stops one byte past the limit.
  static func readPrefix(_ path: String, purpose: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    try readChunks(path, purpose: purpose) { chunk throws(Failure) in
      bytes += chunk
      return bytes.count <= limit
    }
    return Array(bytes.prefix(limit + 1))
  }

  /// Calls `take` with each non-empty line and its number, from 1. Throws if a line is longer than a mebibyte.
  static func readLines(
    _ path: String, purpose: String, _ take: (_ line: [UInt8], _ number: Int) -> Void
  ) throws(Failure) {
    var line: [UInt8] = []
    var number = 1
    try readChunks(path, purpose: purpose) { chunk throws(Failure) in
      var rest = chunk
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line += rest[..<end]
        if !line.isEmpty { take(line, number) }
        line.removeAll(keepingCapacity: true)
        number += 1
        rest = rest[(end + 1)...]
      }
      line += rest
      guard line.count <= 1 << 20 else { throw .unreadable("\(purpose) \(path): line \(number) is too long") }
      return true
    }
    if !line.isEmpty { take(line, number) }
  }

  /// Calls `take` with each part of the file until `take` returns false.
  private static func readChunks(
    _ path: String, purpose: String, _ take: (ArraySlice<UInt8>) throws(Failure) -> Bool
  ) throws(Failure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable("\(purpose) \(path): \(reason(errno))") }
    defer { close(descriptor) }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable("\(purpose) \(path): \(reason(errno))") }
      guard count > 0, try take(chunk[..<count]) else { return }
    }
  }

  /// Writes a file that anyone may read. Replaces an existing file.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
  }

  /// Writes a file that only its owner may read. Replaces an existing file without changing its mode.
  static func writePersonal(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
  }

  /// Writes a file that only its owner may read. Throws if the path exists.
  static func writeSecret(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
  }

  /// Writes a file that anyone may read. Throws if the path exists.
  static func writeNew(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
  }

  /// Writes all of these files, or none. Each is first written under a name that loaders ignore. Throws if a path
  /// exists.
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
        throw .unreadable("\(file.path): cannot be written; nothing was written: \(reason(code))")
      }
      placed.append(file.path)
    }
  }

  /// True if the path exists, even as a link whose target does not exist.
  static func exists(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0 || errno != ENOENT
  }

  static func makeFolder(_ path: String) throws(Failure) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .unreadable("\(path): \(reason(errno))") }
  }

  /// Makes a folder. Throws if the path exists.
  static func makeNewFolder(_ path: String, mode: mode_t = 0o755) throws(Failure) {
    guard mkdir(path, mode) == 0 else { throw .unreadable("\(path): cannot create the folder: \(reason(errno))") }
  }

  private static func write(_ bytes: [UInt8], to path: String, flags: Int32, mode: mode_t) throws(Failure) {
    let file = try OutputFile(path, flags: flags, mode: mode)
    try file.write(bytes)
    try file.close()
  }

  static func reason(_ code: Int32) -> String { FileFault.reason(code) }
}

/// A file that is written piece by piece.
final class OutputFile {
  private let path: String
  private var descriptor: Int32

  /// Makes a new file that only its owner may read. Throws if the path exists.
  convenience init(new path: String) throws(Failure) {
    try self.init(path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
  }

  /// Opens an existing file to append to it.
  convenience init(appendingTo path: String) throws(Failure) {
    try self.init(path, flags: O_WRONLY | O_APPEND, mode: 0)
  }

  fileprivate init(_ path: String, flags: Int32, mode: mode_t) throws(Failure) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .unreadable("\(path): cannot be written: \(FileAccess.reason(errno))") }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  func write(_ bytes: [UInt8]) throws(Failure) {
    guard writeFully(bytes, to: descriptor) else { throw failure }
  }

  /// Flushes the file to the disk.
  func flush() throws(Failure) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure }
  }

  func close() throws(Failure) {
    defer { descriptor = -1 }
    guard Glibc.close(descriptor) == 0 else { throw failure }
  }

  private var failure: Failure { .temporary("\(path): cannot be written: \(FileAccess.reason(errno))") }
}

/// Writes all bytes. Returns false on failure.
func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written < 0, errno == EINTR { continue }
    guard written > 0 else { return false }
    rest = rest.dropFirst(written)
  }
  return true
}
