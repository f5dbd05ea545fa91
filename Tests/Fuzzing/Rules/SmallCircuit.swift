@testable import Longfellow

/// A circuit of one layer with few terms, in the text of a circuit file, with a right identifier.
enum SmallCircuit<F: ProofField> {
  private static var inputs: Int { 4 }
  /// The second input is private: one output is the sum of some products of inputs.
  private static var terms: [(left: Int, right: Int)] { [(0, 1), (1, 2), (2, 3), (3, 3)] }

  static var text: [UInt8] {
    let constant = F.one
    var text: [UInt8] = [1]
    func add(_ number: Int) { text += [0, 8, 16].map { UInt8(truncatingIfNeeded: number >> $0) } }
    for number in [F.identifier, 1, 1, 1, 1, inputs, 1, 1] { add(number) }
    text += constant.bytes
    for number in [2, inputs, terms.count] { add(number) }
    let identity = CircuitIdentity([constant])
    identity.absorb(F.identifierPrefix)
    for value in [1, 0, 1, 0, 1, inputs, 1, 1] { identity.absorb(value) }
    for value in [inputs, 2, terms.count] { identity.absorb(value) }
    var last = (left: 0, right: 0)
    for term in terms {
      add(0)
      add(2 * (term.left - last.left))
      add(2 * (term.right - last.right))
      add(0)
      identity.absorb(output: 0, left: term.left, right: term.right, constant: 0)
      last = term
    }
    return text + identity.digest()
  }
}

/// Frames of zstd (RFC 8878) with uncompressed content.
enum StoredFrame {
  private static let mostBytes = 1 << 17

  /// A frame in the form of circuit files: its content's size in four bytes, a window of 4 MiB, no checksum.
  static func of(_ content: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x60]
    frame += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: content.count >> $0) }
    var rest = content[...]
    repeat {
      let block = rest.prefix(mostBytes)
      rest = rest.dropFirst(block.count)
      let head = block.count << 3 | (rest.isEmpty ? 1 : 0)
      frame += [0, 8, 16].map { UInt8(truncatingIfNeeded: head >> $0) } + block
    } while !rest.isEmpty
    return frame
  }
}
