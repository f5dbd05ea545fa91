import CZstd
import TestSupport
import Testing

@testable import Longfellow

/// Circuit files: all known files, and changed files (Z67).
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"), .serialized)
struct CircuitTests {
  /// The differences of the hash circuits, which determine the sizes of proofs.
  struct Measures: Sendable {
    let version, elements, inputs, publicInputs, terms, committed, outputs: Int
    let block, width, doubleBlock, leaves, witnessRows, rows: Int
    let identifier: String
  }

  private static let measures = [
    Measures(
      version: 6, elements: 1, inputs: 75_098, publicInputs: 944, terms: 6_823_073, committed: 75_219, outputs: 4729,
      block: 682, width: 554, doubleBlock: 1363, leaves: 2733, witnessRows: 136, rows: 142,
      identifier: "039bed19b94d5d732e1de555fa5c5c4b9b189b8c7908d3f1ee4ecb9e72f38532"),
    Measures(
      version: 6, elements: 2, inputs: 79_902, publicInputs: 1720, terms: 7_234_488, committed: 79_251, outputs: 4982,
      block: 671, width: 543, doubleBlock: 1341, leaves: 2684, witnessRows: 146, rows: 152,
      identifier: "998d8a96af09bdb7d66574c3375a649078b3fbf6cb863f8ba0407d3a3d73a0cd"),
    Measures(
      version: 6, elements: 3, inputs: 84_706, publicInputs: 2496, terms: 7_645_903, committed: 83_283, outputs: 5235,
      block: 687, width: 559, doubleBlock: 1373, leaves: 2748, witnessRows: 149, rows: 155,
      identifier: "6fef452320934ed0cf63924b22a0ff3ec20771c7647b3950326305fff3908157"),
    Measures(
      version: 6, elements: 4, inputs: 89_510, publicInputs: 3272, terms: 8_057_318, committed: 87_311, outputs: 5488,
      block: 714, width: 586, doubleBlock: 1427, leaves: 2856, witnessRows: 149, rows: 155,
      identifier: "2822c136eacd67fa250d300b1a3f5e090efcf8e4b0b2ace13c9d1b82f172e7d9"),
    Measures(
      version: 7, elements: 1, inputs: 85_118, publicInputs: 952, terms: 7_757_579, committed: 85_349, outputs: 5,
      block: 461, width: 329, doubleBlock: 921, leaves: 3230, witnessRows: 260, rows: 266,
      identifier: "58248d20ded3b19b0996e478dda6afacba794fa2b1f0802771430bc0dca7d106"),
    Measures(
      version: 7, elements: 2, inputs: 90_022, publicInputs: 1736, terms: 8_193_016, committed: 89_477, outputs: 10,
      block: 474, width: 342, doubleBlock: 947, leaves: 3318, witnessRows: 262, rows: 268,
      identifier: "350806f428dafce638172976db598335c9a5399776a1bd08f177e569114b1b84"),
    Measures(
      version: 7, elements: 3, inputs: 94_926, publicInputs: 2520, terms: 8_628_453, committed: 93_605, outputs: 15,
      block: 478, width: 346, doubleBlock: 955, leaves: 3352, witnessRows: 271, rows: 277,
      identifier: "766f3cb1be33d346f3a0142e617504e524b3126daa8ec9fd0b131183eeb27d4b"),
    Measures(
      version: 7, elements: 4, inputs: 99_830, publicInputs: 3304, terms: 9_063_890, committed: 97_725, outputs: 20,
      block: 490, width: 358, doubleBlock: 979, leaves: 3436, witnessRows: 273, rows: 279,
      identifier: "695247ca8691d1ac9c5c05280ce4b7cabeb803f8a9b597f03dd0d93ac0b21cb9"),
  ]

  private static func known(_ version: Int, _ elements: Int) throws -> KnownCircuit {
    try #require(KnownCircuit.all.first { $0.version == version && $0.elements == elements })
  }

  @Test(arguments: measures)
  func `a known circuit loads and has the published sizes`(measures: Measures) throws {
    let known = try Self.known(measures.version, measures.elements)
    let pair = try CircuitPair(compressed: PublishedCircuits.file(known), known: known)
    let hash = pair.hash
    #expect(hash.identifier == hexBytes(measures.identifier))
    #expect(
      [hash.inputs, hash.publicInputs, hash.outputs] == [measures.inputs, measures.publicInputs, measures.outputs])
    #expect(hash.terms == measures.terms && hash.layers.count == (known.version == 6 ? 15 : 17))
    #expect(hash.privateInputs + hash.padCount == measures.committed)
    let shape = LigeroShape(hash, rate: known.rate, opened: known.openedColumns, encoded: known.hashBlock)
    #expect([shape.block, shape.width, shape.doubleBlock] == [measures.block, measures.width, measures.doubleBlock])
    #expect([shape.leaves, shape.witnessRows, shape.rows] == [measures.leaves, measures.witnessRows, measures.rows])
    #expect(shape.quadraticRows == 1)
    if known.elements == 1 {
      #expect(
        hash.layers.map(\.logWires)
          == (known.version == 6
            ? [14, 15, 15, 16, 16, 16, 16, 16, 17, 19, 20, 20, 19, 19, 17]
            : [13, 13, 14, 15, 16, 16, 16, 16, 17, 16, 17, 19, 20, 20, 19, 19, 17]))
    }
    checkSignature(pair)
    try checkCounts(pair)
  }

  /// The signature circuit is the same in all pairs.
  private func checkSignature(_ pair: CircuitPair) {
    let circuit = pair.signature
    #expect(circuit.identifier == hexBytes("2845210af05740e6e3e054762f9e35ff5fc4fb23088716e369f7cf73eb61df2d"))
    #expect([circuit.inputs, circuit.publicInputs, circuit.outputs, circuit.terms] == [3739, 900, 234, 481_833])
    #expect(circuit.privateInputs + circuit.padCount == 3986)
    let logWires = [9, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 15, 15, 16, 16, 14, 14, 14, 12]
    #expect(circuit.layers.map(\.logWires) == logWires)
    let known = pair.known
    let shape = LigeroShape(circuit, rate: known.rate, opened: known.openedColumns, encoded: known.signatureBlock)
    let measures = [shape.block, shape.width, shape.doubleBlock, shape.leaves, shape.witnessRows, shape.rows]
    #expect(measures == (known.version == 6 ? [491, 363, 981, 1964, 11, 17] : [455, 323, 909, 3187, 13, 19]))
  }

  /// Z23: a circuit is for exactly the number of elements that it states.
  private func checkCounts(_ pair: CircuitPair) throws {
    let verifier = LongfellowVerifier(pair)
    let statement = try PublishedProof.mustermann(pair.known.version).statement
    for count in 0...5 where count != pair.known.elements {
      let elements = (0..<count).map { (identifier: "element_\($0)", value: [0xf5] as [UInt8]) }
      #expect(throws: LongfellowError.statement(.elementCount)) {
        try verifier.verify(proof: [], statement: statement.with(elements: elements))
      }
    }
  }

  @Test func `a circuit under another's name is unknown`() throws {
    let file = try PublishedCircuits.file(Self.known(6, 1))
    #expect(throws: LongfellowError.circuitUnknown) {
      try CircuitPair(compressed: file, known: Self.known(6, 2))
    }
  }

  /// Z67: anywhere in the frame, its header included.
  @Test(arguments: [0, 3, 4, 5, 6, 9, 10, 100, 5000, 100_000, 278_300, 278_353])
  func `a circuit file with a changed bit is refused`(at offset: Int) throws {
    let known = try Self.known(6, 1)
    let file = try PublishedCircuits.file(known).flipped(at: offset, by: 0x10)
    #expect(throws: LongfellowError.circuitMalformed) { try CircuitPair(compressed: file, known: known) }
  }

  /// Z67: an incomplete frame, or more than one frame; a terabyte is announced, not made.
  @Test func `a file that is not one frame is refused`() throws {
    let known = try Self.known(6, 1)
    let file = try PublishedCircuits.file(known)
    let terabyte = Array(file.prefix(4)) + [0xc0, 0x60, 0, 0, 0, 0, 0, 1, 0, 0] + file.dropFirst(10)
    let short = Array(file.prefix(6)) + [0xff, 0, 0, 0] + file.dropFirst(10)
    let changed: [[UInt8]] = [[], Array(file.prefix(100)), file.dropLast(1), file + [0], file + file, terabyte, short]
    for file in changed {
      #expect(throws: LongfellowError.circuitMalformed) { try CircuitPair(compressed: file, known: known) }
    }
  }

  /// Z67 once more, in a small circuit's text and at each of its bytes: number, term, constant and identifier.
  @Test func `no changed bit of a circuit's text goes unnoticed`() throws {
    let text = try OneCircuit.text()
    for offset in text.indices {
      let changed = text.flipped(at: offset, by: UInt8(1 << (offset % 8)))
      #expect(throws: LongfellowError.circuitMalformed, "at \(offset)") { try OneCircuit.circuit(text: changed) }
    }
  }

  @Test func `a circuit's text that is cut or has bytes left is refused`() throws {
    let text = try OneCircuit.text()
    for length in [0, 1, 4, 24, 100, text.count / 2, text.count - 33, text.count - 1] {
      #expect(throws: LongfellowError.circuitMalformed) { try OneCircuit.circuit(text: Array(text.prefix(length))) }
    }
    #expect(throws: LongfellowError.circuitMalformed) { try OneCircuit.circuit(text: text + [0]) }
  }
}
