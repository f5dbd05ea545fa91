import Base

/// The bytes of an answer: stored as they are, or described where they are large and monotonous.
package struct VectorInput: Sendable, Hashable {
  /// Bytes, or bytes that repeat.
  package struct Part: Sendable, Hashable {
    package var bytes: [UInt8]
    package var times: Int

    package init(_ bytes: [UInt8], times: Int = 1) {
      self.bytes = bytes
      self.times = times
    }
  }

  package var parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  /// Whether the file describes the bytes rather than holding them.
  package var isGenerated: Bool { parts.count != 1 || parts[0].times != 1 }

  package var count: Int { parts.reduce(0) { $0 + $1.bytes.count * $1.times } }

  /// The whole answer.
  package var bytes: [UInt8] {
    guard isGenerated else { return parts[0].bytes }
    var output: [UInt8] = []
    output.reserveCapacity(count)
    for part in parts {
      if part.bytes.count == 1 {
        output += [UInt8](repeating: part.bytes[0], count: part.times)
      } else {
        for _ in 0..<part.times { output += part.bytes }
      }
    }
    return output
  }

  /// Stores small answers, and describes the long runs of larger ones.
  package init(describing bytes: [UInt8]) {
    guard bytes.count > Self.storedBytes else {
      self.init(parts: [Part(bytes)])
      return
    }
    var parts: [Part] = []
    var start = 0
    var position = 0
    while position < bytes.count {
      guard let run = Self.run(in: bytes, at: position) else {
        position += 1
        continue
      }
      if start < position { parts.append(Part(Array(bytes[start..<position]))) }
      parts.append(Part(Array(bytes[position..<(position + run.period)]), times: run.times))
      position += run.period * run.times
      start = position
    }
    if start < bytes.count { parts.append(Part(Array(bytes[start...]))) }
    self.init(parts: parts)
  }

  private static let storedBytes = 32 << 10
  private static let shortestRun = 4 << 10
  /// One byte; the counter pattern of padded portraits; what zlib makes of each megabyte of zeros.
  private static let periods = [1, 256, 1_037]

  private static func run(in bytes: [UInt8], at start: Int) -> (period: Int, times: Int)? {
    // A run is at least this long, so that most places are ruled out by one look.
    for period in periods {
      let ahead = start + (shortestRun + period - 1) / period * period
      guard ahead < bytes.count, bytes[start] == bytes[ahead] else { continue }
      var end = start + period
      while end < bytes.count, bytes[end] == bytes[end - period] { end += 1 }
      if end - start >= shortestRun { return (period, (end - start) / period) }
    }
    return nil
  }
}
