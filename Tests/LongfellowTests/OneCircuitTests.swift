import Base
import CZstd
import TestSupport
import Testing

@testable import Longfellow

/// A small published circuit with proofs that were made with the transcript of version 3.
enum OneCircuit {
  private static let name =
    "longfellow/zk-cred-longfellow/one-circuit/longfellow-mac-circuit-66aeaf09a9cc98e36873e868307ac07279d5f7e0-1"

  static func facts<Value: Decodable>() throws -> Value { try PublishedVectors.snakeCaseJSON("\(name).json") }

  static func part(_ suffix: String) throws -> [UInt8] { try PublishedVectors.bytes("\(name).\(suffix)") }

  static func text() throws -> [UInt8] {
    let file = try part("circuit.zst")
    var text = [UInt8](repeating: 0, count: 100_000)
    let length = ZSTD_decompress(&text, text.count, file, file.count)
    try #require(ZSTD_isError(length) == 0)
    return Array(text.prefix(length))
  }

  /// The circuit of a text that fills its frame.
  static func circuit(text: [UInt8]) throws -> Circuit<FieldGF128> {
    var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(text.count))
    let length = ZSTD_compress(&frame, frame.count, text, text.count, 1)
    try #require(ZSTD_isError(length) == 0)
    var reader = CircuitReader(try FrameReader(Array(frame.prefix(length))))
    let circuit: Circuit<FieldGF128> = try reader.circuit()
    guard reader.isAtEnd else { throw LongfellowError.circuitMalformed }
    return circuit
  }
}

@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct OneCircuitTests {
  private struct Facts: Decodable {
    struct Constraints: Decodable { let linearRhs: [HexBytes] }
    let depth, quads: Int
    let validInputs, invalidInputs: [HexBytes]
    let ligeroCommitment: HexBytes
    let constraints: Constraints
  }

  private func check(_ facts: Facts, inputs: [HexBytes]) throws -> PartCheck<FieldGF128> {
    let circuit = try OneCircuit.circuit(text: OneCircuit.text())
    #expect(circuit.layers.count + 1 == facts.depth && circuit.terms == facts.quads)
    let setup = PartSetup(circuit, rate: 4, opened: 128, encoded: 2048)
    let bytes =
      try facts.ligeroCommitment.bytes + OneCircuit.part("sumcheck-proof") + OneCircuit.part("ligero-proof")
    var reader = ProofReader(bytes)
    let proof: CircuitProof<FieldGF128> = try reader.part(circuit, setup.shape)
    #expect(reader.isAtEnd)
    var transcript = Transcript(session: Array("test".utf8), arrayTag: 1)
    transcript.write(bytes: proof.root)
    var publicInputs: [FieldGF128] = [.one]
    for input in inputs.prefix(circuit.publicInputs - 1) { publicInputs.append(try element(input)) }
    return PartCheck(&transcript, setup: setup, publicInputs: publicInputs, proof: proof)
  }

  @Test func `a proof of one small circuit is valid`() throws {
    let facts: Facts = try OneCircuit.facts()
    let check = try check(facts, inputs: facts.validInputs)
    let challenges = check.ligero.challenges
    let constraints = LinearConstraints(
      check.setup.circuit, boundSums: check.setup.circuit.boundSums(challenges, threads: 1), challenges: challenges,
      publicInputs: check.publicInputs, proof: check.ligero.proof)
    #expect(constraints.rightSides.map(\.bytes) == facts.constraints.linearRhs.map(\.bytes))
    try check.ligero.checkMerkle()
    try check.check(threads: 1)
  }

  @Test func `the proof is of no other inputs`() throws {
    let facts: Facts = try OneCircuit.facts()
    let check = try check(facts, inputs: facts.invalidInputs)
    #expect(throws: LongfellowError.proofInvalid(.merkle)) { try check.ligero.checkMerkle() }
    #expect(throws: LongfellowError.self) { try check.check(threads: 1) }
  }
}
