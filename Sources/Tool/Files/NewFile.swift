import Glibc

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
