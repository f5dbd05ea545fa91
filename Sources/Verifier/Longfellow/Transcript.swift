import Cryptography

/// The Fiat–Shamir transcript: writes are hashed with a running SHA-256, and reads come from AES-256 streams
/// (draft-google-cfrg-libzk, Transcript).
package struct Transcript: ~Copyable {
  private let hash = RunningHash()
  private let cipher = AESBlocks()
  private var isKeyed = false
  private var stream: [UInt8] = []
  private var position = 0
  private var counter: UInt64 = 0

  private let arrayTag: UInt8

  /// - Parameters:
  ///   - session: the first byte string.
  ///   - arrayTag: the byte before an array; 1 in proofs of version 3, which are for tests only.
  package init(session: [UInt8], arrayTag: UInt8 = 2) {
    self.arrayTag = arrayTag
    write(bytes: session)
  }

  package mutating func write(bytes: [UInt8]) {
    isKeyed = false
    hash.absorb([0] + Self.length(bytes.count) + bytes)
  }

  /// Writes a byte string of `count` zeros.
  package mutating func write(zeros count: Int) {
    isKeyed = false
    hash.absorb([0] + Self.length(count))
    let zeros = [UInt8](repeating: 0, count: 1 << 14)
    for start in stride(from: 0, to: count, by: zeros.count) {
      zeros.withUnsafeBytes { hash.absorb(UnsafeRawBufferPointer(rebasing: $0.prefix(count - start))) }
    }
  }

  package mutating func write<F: ProofField>(element: F) {
    isKeyed = false
    hash.absorb([1] + element.bytes)
  }

  package mutating func write<F: ProofField>(array: ArraySlice<F>) {
    isKeyed = false
    hash.absorb([arrayTag] + Self.length(array.count))
    for element in array { hash.absorb(element.bytes) }
  }

  private static func length(_ count: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: UInt64(count) >> UInt64(8 * $0)) }
  }

  /// Reads the stream's next bytes. The first read after a write starts a new stream.
  private mutating func read(_ count: Int) -> [UInt8] {
    if !isKeyed {
      cipher.setKey(hash.digest())
      isKeyed = true
      (stream, position, counter) = ([], 0, 0)
    }
    while stream.count - position < count {
      stream.removeFirst(position)
      position = 0
      var blocks = [UInt8](repeating: 0, count: counter == 0 ? 64 : 1024)
      for block in 0..<(blocks.count / 16) {
        for byte in 0..<8 { blocks[16 * block + byte] = UInt8(truncatingIfNeeded: counter >> UInt64(8 * byte)) }
        counter += 1
      }
      stream += cipher.encrypt(blocks)
    }
    defer { position += count }
    return Array(stream[position..<(position + count)])
  }

  package mutating func element<F: ProofField>(_: F.Type = F.self) -> F {
    while true {
      if let element = read(F.byteCount).withUnsafeBufferPointer({ $0.baseAddress.flatMap { F($0) } }) {
        return element
      }
    }
  }

  package mutating func elements<F: ProofField>(_ count: Int, _: F.Type = F.self) -> [F] {
    var elements: [F] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(element()) }
    return elements
  }

  /// Draws a number from 0 up to but excluding `bound`. `bound` must be positive.
  package mutating func number(below bound: Int) -> Int {
    let bits = Int.bitWidth - bound.leadingZeroBitCount
    while true {
      let value = read((bits + 7) / 8).reversed().reduce(0) { $0 << 8 | Int($1) } & ((1 << bits) - 1)
      if value < bound { return value }
    }
  }

  /// Draws different numbers from 0 up to but excluding `bound`, in the order of the draws.
  package mutating func choose(_ count: Int, of bound: Int) -> [Int] {
    var numbers = Array(0..<bound)
    for index in 0..<count { numbers.swapAt(index, index + number(below: bound - index)) }
    return Array(numbers.prefix(count))
  }
}

/// The challenges of one circuit's part of the transcript (draft-google-cfrg-libzk, Sumcheck and Ligero).
struct CircuitChallenges<F: ProofField>: Sendable {
  struct Layer: Sendable {
    let alpha, beta: F
    /// One for each round.
    var left: [F] = []
    var right: [F] = []
  }

  let outputPoint: [F]
  private(set) var layers: [Layer] = []
  let gamma: F
  let lowDegree, linear, quadratic, quadraticRows: [F]
  let columns: [Int]

  /// Replays the transcript over the proof. Only hashes are computed.
  init(
    _ transcript: inout Transcript, circuit: Circuit<F>, publicInputs: [F], proof: CircuitProof<F>, shape: LigeroShape
  ) {
    transcript.write(bytes: circuit.identifier)
    for input in publicInputs { transcript.write(element: input) }
    transcript.write(element: F.zero)
    transcript.write(zeros: circuit.terms)
    _ = transcript.elements(40, F.self)
    outputPoint = Array(transcript.elements(40, F.self).prefix(circuit.logOutputs))
    var start = 0
    for layer in circuit.layers {
      var challenges = Layer(alpha: transcript.element(), beta: transcript.element())
      for _ in 0..<layer.logWires {
        // The proof has both hands' values at 0, then both hands' values at P2.
        transcript.write(element: proof.sumcheck[start])
        transcript.write(element: proof.sumcheck[start + 2])
        challenges.left.append(transcript.element())
        transcript.write(element: proof.sumcheck[start + 1])
        transcript.write(element: proof.sumcheck[start + 3])
        challenges.right.append(transcript.element())
        start += 4
      }
      transcript.write(array: proof.sumcheck[start..<(start + 2)])
      start += 2
      layers.append(challenges)
    }
    gamma = transcript.element()
    transcript.write(bytes: [0xde, 0xad, 0xbe, 0xef] + [UInt8](repeating: 0, count: 28))
    lowDegree = transcript.elements(shape.contentRows)
    linear = transcript.elements(circuit.layers.count + 1)
    quadratic = transcript.elements(3 * circuit.layers.count)
    quadraticRows = transcript.elements(shape.quadraticRows)
    transcript.write(array: proof.lowDegree[...])
    transcript.write(array: proof.dot[...])
    transcript.write(array: proof.quadraticStart[...])
    transcript.write(array: proof.quadraticEnd[...])
    columns = transcript.choose(shape.opened, of: shape.leaves)
  }
}
