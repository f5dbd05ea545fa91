import Base

/// The bytes of an answer: stored as they are, or described if they are large and repetitive, or much like another
/// vector's.
package struct VectorInput: Sendable, Hashable {
  /// Bytes, repeated `times` times.
  package struct Part: Sendable, Hashable {
    package var bytes: [UInt8]
    package var times: Int
    /// Where the bytes stand in another vector's input; nil if they stand in the file.
    package var origin: Origin?

    package init(_ bytes: [UInt8], times: Int = 1) {
      self.bytes = bytes
      self.times = times
    }
  }

  /// A place in the input of another vector of the same group.
  package struct Origin: Sendable, Hashable {
    package let vector: String
    package let offset: Int
  }

  package var parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  /// Whether the file describes the bytes rather than holding them.
  package var isGenerated: Bool { parts.count != 1 || parts[0].times != 1 || parts[0].origin != nil }

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
      part.origin = Origin(vector: vector, offset: range.lowerBound)
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

/// Reads the members of one JSON object by type. Its faults say where the object is wrong.
struct MemberParser {
  private let json: JSON
  private let pointer: String

  init(_ json: JSON, at pointer: String) {
    self.json = json
    self.pointer = pointer
  }

  func fault(_ name: String, _ problem: String) -> VectorFault {
    VectorFault(pointer: "\(pointer)/\(name)", problem: problem)
  }

  func optional(_ name: String) -> JSON? { json[name] }

  func value(_ name: String) throws(VectorFault) -> JSON {
    guard let value = json[name] else { throw fault(name, "is missing") }
    return value
  }

  func object(_ name: String) throws(VectorFault) -> MemberParser {
    let value = try value(name)
    guard value.object != nil else { throw fault(name, "is no object") }
    return MemberParser(value, at: "\(pointer)/\(name)")
  }

  func elements(_ name: String) throws(VectorFault) -> [MemberParser] {
    guard let elements = try value(name).array else { throw fault(name, "is no array") }
    return elements.enumerated().map { MemberParser($0.element, at: "\(pointer)/\(name)/\($0.offset)") }
  }

  func string(_ name: String) throws(VectorFault) -> String {
    guard let text = try value(name).string else { throw fault(name, "is no string") }
    return text
  }

  func strings(_ name: String) throws(VectorFault) -> [String] {
    guard let elements = try value(name).array else { throw fault(name, "is no array") }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else { throw fault(name, "is no array of strings") }
    return texts
  }

  func integer(_ name: String) throws(VectorFault) -> Int64 {
    guard let number = try value(name).integer else { throw fault(name, "is no whole number") }
    return number
  }

  func bool(_ name: String) throws(VectorFault) -> Bool? {
    guard let value = json[name] else { return nil }
    guard let bool = value.bool else { throw fault(name, "is neither true nor false") }
    return bool
  }

  func bytes(_ name: String) throws(VectorFault) -> [UInt8] {
    guard let bytes = Base64.decodeURLSafe(try string(name)) else { throw fault(name, "is no base64url") }
    return bytes
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(VectorFault) -> Choice {
    guard let choice = Choice(rawValue: try string(name)) else {
      throw fault(name, "is none of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }
}
