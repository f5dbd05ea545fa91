import Glibc

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
