import Base
import Glibc

/// Files by their paths, with faults that a person can act on.
enum FileAccess {
  /// The most that is read of any file: an answer in hexadecimal with room to spare. A device without an end, or a
  /// wrong file of gigabytes, costs no more than this.
  static let limit = 8 << 20

  /// The first `limit` bytes of a file of ours.
  ///
  /// - Parameter purpose: what the file is, for the message.
  static func read(_ path: String, purpose: String) throws(Failure) -> [UInt8] {
    let bytes = try readPrefix(path, purpose: purpose)
    guard bytes.count <= limit else { throw .unreadable("\(purpose) \(path): is larger than \(limit >> 20) MiB") }
    guard !bytes.isEmpty else { throw .unreadable("\(purpose) \(path): is empty") }
    return bytes
  }

  /// The bytes of a file that may hold anything, cut off one past the limit.
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

  /// Writes a file that anyone may read; one that exists is replaced.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
  }

  /// Writes a file for its owner alone; one that exists is never touched.
  static func writeSecret(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
  }

  /// Writes a file that anyone may read; one that exists is never touched.
  static func writeNew(_ bytes: [UInt8], to path: String) throws(Failure) {
    try write(bytes, to: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
  }

  /// Writes all of these files, which anyone may read, or none; one that exists is never touched.
  ///
  /// Each is written beside its place first, under a name that no loader reads.
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
      // A link, in place of a renaming, fails where the name is taken.
      guard link(file.path + suffix, file.path) == 0 else {
        let code = errno
        for path in placed { unlink(path) }
        throw .unreadable("\(file.path): can't be written, and nothing was: \(reason(code))")
      }
      placed.append(file.path)
    }
  }

  /// Whether there is anything of the name, be it a link that leads nowhere.
  static func exists(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0 || errno != ENOENT
  }

  static func makeFolder(_ path: String) throws(Failure) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .unreadable("\(path): \(reason(errno))") }
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

/// A file that is written piece by piece, for its owner alone; one that exists is never touched.
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

  /// Puts it on the disk.
  func finish() throws(Failure) {
    let isWritten = fsync(descriptor) == 0 || errno == EINVAL
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isWritten, isClosed else { throw .temporary("\(path): can't be written: \(FileAccess.reason(errno))") }
  }
}

/// A file of lines, however long, of which one line at a time is held.
enum LineFile {
  /// The most that one line may have.
  private static let limit = 1 << 20

  /// Calls `take` with each line that is not empty and its number, from 1.
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
