import Base

/// The bytes of a response. They are stored; or described, if they are large and repetitive, or similar to another
/// vector's bytes.
package struct VectorInput: Sendable, Hashable {
  /// Bytes, repeated `times` times.
  package struct Part: Sendable, Hashable {
    package var bytes: [UInt8]
    package var times: Int
    /// Nil if the bytes are in the file.
    package var origin: Origin?

    package init(_ bytes: [UInt8], times: Int = 1) { (self.bytes, self.times) = (bytes, times) }
  }

  /// A range of the input of another vector of the same group.
  package struct Origin: Sendable, Hashable {
    package var vector = ""
    package var offset = 0
    package var count = 0

    package init() {}
  }

  package var parts: [Part]

  package init(parts: [Part] = []) { self.parts = parts }

  /// True if the file describes the bytes instead of holding them.
  package var isGenerated: Bool { parts.count != 1 || parts[0].times != 1 || parts[0].origin != nil }

  package var count: Int { parts.reduce(0) { $0 + $1.bytes.count * $1.times } }

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

  /// The same bytes, stored.
  var inFull: VectorInput { parts.isEmpty ? self : VectorInput(parts: [Part(bytes)]) }
}

// MARK: The file

/// A file has exactly one of an input's two members: the bytes, or a generator.
extension VectorInput {
  var stored: [UInt8]? {
    get { isGenerated ? nil : parts[0].bytes }
    set { parts = [Part(newValue ?? [])] }
  }

  var described: [Part]? {
    get { isGenerated && !parts.isEmpty ? parts : nil }
    set { parts = newValue ?? [] }
  }

  /// Maximum number of bytes that a generator makes, so that a file cannot exhaust the program's memory.
  fileprivate static let largest = 64 << 20

  /// A generator of repeated bytes.
  static let parts = bounded(partShape)

  /// A generator of repeated bytes and of copies. The bytes of copies are missing until `copying(from:)`.
  static let partsOrCopies = bounded(
    Shape<Part>(.oneOf([partShape.schema, copyShape.schema])) { json, pointer, faults in
      (json["vector"] == nil ? partShape : copyShape).read(json, pointer, &faults)
    } write: {
      ($0.origin == nil ? partShape : copyShape).write($0)
    })

  private static let partShape = Shape<Part>.form(
    "part", from: Part([]), Member("bytes", \.bytes, .bytes), .ifAny("times", \.times, .size(from: 1)))

  private static let copyShape = Shape<Part>.form(
    "copy", from: Part([]), Member("vector", \.copied.vector, .nonEmpty),
    Member("from", \.copied.offset, .size(from: 0)),
    Member("count", \.copied.count, .size(from: 1)))

  private static func bounded(_ part: Shape<Part>) -> Shape<[Part]> {
    part.list(atLeast: 1).checked("must not make more than \(largest >> 20) MiB") { parts in
      // Each factor is at most `largest`, so no product overflows.
      var total = 0
      for part in parts where total <= largest { total += (part.origin?.count ?? part.bytes.count) * part.times }
      return total <= largest
    }
  }

  /// The input with the bytes of its copies. Other vectors must have these bytes.
  func copying(from inputs: TestVector.InputLookup) throws(VectorError) -> VectorInput {
    var copy = self
    for (index, part) in parts.enumerated() {
      guard let origin = part.origin else { continue }
      guard let base = inputs(origin.vector) else {
        throw VectorError(pointer: "/generator/\(index)/vector", problem: "must be another vector of the group")
      }
      guard origin.count <= base.count - origin.offset else {
        throw VectorError(pointer: "/generator/\(index)/count", problem: "must not go beyond that vector's input")
      }
      copy.parts[index].bytes = Array(base[origin.offset...].prefix(origin.count))
    }
    return copy
  }
}

extension VectorInput.Part {
  fileprivate var copied: VectorInput.Origin {
    get { origin ?? .init() }
    set { origin = newValue }
  }
}

extension Shape<Int> {
  /// A number of bytes or of repetitions. The schema does not state the upper bound.
  fileprivate static func size(from least: Int) -> Shape {
    whole(least...VectorInput.largest).described(by: ["type": "integer", "minimum": .integer(Int64(least))])
  }
}
