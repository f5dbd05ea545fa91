import Vectors

/// Inputs that their files describe.
extension VectorInput {
  /// Stores small answers, and describes the long repetitions of larger ones.
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

  /// Describes bytes by what they share with another vector's input: its end, and what comes before with small changes
  /// in between.
  init(describing bytes: [UInt8], by base: [UInt8], of vector: String) {
    var end = 0
    while end < min(bytes.count, base.count), bytes[bytes.count - 1 - end] == base[base.count - 1 - end] { end += 1 }
    let (last, lastOfBase) = (bytes.count - end, base.count - end)
    var parts: [Part] = []
    func add(copied range: Range<Int>) {
      guard !range.isEmpty else { return }
      var part = Part(Array(base[range]))
      var origin = Origin()
      (origin.vector, origin.offset, origin.count) = (vector, range.lowerBound, range.count)
      part.origin = origin
      parts.append(part)
    }
    func add(own range: Range<Int>) {
      if !range.isEmpty { parts += VectorInput(describing: Array(bytes[range])).parts }
    }
    var (position, inBase) = (0, 0)
    while position < last {
      var count = 0
      while position + count < last, inBase + count < base.count, bytes[position + count] == base[inBase + count] {
        count += 1
      }
      add(copied: inBase..<(inBase + count))
      position += count
      inBase += count
      guard let change = Self.smallChange(bytes[position..<last], base[inBase...]) else { break }
      add(own: position..<(position + change.own))
      position += change.own
      inBase += change.ofBase
    }
    add(own: position..<last)
    add(copied: lastOfBase..<base.count)
    self.init(parts: parts)
  }

  /// The lengths of the shortest change, after which both go on alike for a while; nil if there is no short one.
  private static func smallChange(
    _ bytes: ArraySlice<UInt8>, _ base: ArraySlice<UInt8>
  ) -> (own: Int, ofBase: Int)? {
    for length in 1...40 {
      let ways = (0...length).flatMap { [(own: length, ofBase: $0), (own: $0, ofBase: length)] }
      let found = ways.first { way in
        let (rest, restOfBase) = (bytes.dropFirst(way.own).prefix(64), base.dropFirst(way.ofBase).prefix(64))
        return rest.count == 64 && rest.elementsEqual(restOfBase)
      }
      if let found { return found }
    }
    return nil
  }

  private static let storedBytes = 32 << 10
  private static let shortestRun = 4 << 10
  /// Lengths of the patterns that are looked for: one byte, and three of it in base64; the counter pattern of padded
  /// portraits; the output of zlib for each megabyte of zeros.
  private static let periods = [1, 4, 256, 1_037]

  private static func run(in bytes: [UInt8], at start: Int) -> (period: Int, times: Int)? {
    // A run has at least `shortestRun` bytes, so comparing one byte far ahead rules most places out.
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
