import FuzzDriver

@testable import Longfellow

/// One circuit's part of a zero-knowledge proof, read and checked in every way, with a small circuit.
///
/// Choice: the field.
struct ProofTarget: FuzzTarget {
  static let name = "proof"
  static let dictionary = ["\\xff\\xff\\xff\\xff", "\\x00\\x00\\x00\\x00", "\\x01\\x00\\x00\\x00"]

  private let overBytes: PartSetup<FieldGF128>
  private let overP256: PartSetup<FieldP256>
  let seeds: [[UInt8]]

  init(_ material: Material) throws {
    func setup<F: ProofField>(_: F.Type) throws -> PartSetup<F> {
      let circuit = try CircuitTarget.circuit(SmallCircuit<F>.text, F.self)
      return PartSetup(circuit, rate: 4, opened: 4, encoded: 60)
    }
    overBytes = try setup(FieldGF128.self)
    overP256 = try setup(FieldP256.self)
    seeds = Self.proofs(overBytes).map { [0] + $0 } + Self.proofs(overP256).map { [1] + $0 }
    require(seeds.allSatisfy { parses($0) }, "a proof of zeros is one in form")
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    if choices.byte() % 2 == 0 { check(choices.bytes, overBytes) } else { check(choices.bytes, overP256) }
  }

  private func parses(_ input: [UInt8]) -> Bool {
    let bytes = Array(input.dropFirst())
    return input[0] == 0 ? Self.proof(bytes, overBytes) != nil : Self.proof(bytes, overP256) != nil
  }

  private static func proof<F>(_ bytes: [UInt8], _ setup: PartSetup<F>) -> CircuitProof<F>? {
    var reader = ProofReader(bytes)
    guard let proof = try? reader.part(setup.circuit, setup.shape), reader.isAtEnd else { return nil }
    return proof
  }

  private func check<F>(_ bytes: [UInt8], _ setup: PartSetup<F>) {
    guard let proof = Self.proof(bytes, setup) else { return }
    require(proof.columns.count == setup.shape.rows * setup.shape.opened, "a proof has every opened element")
    require(Self.proof(bytes + [0], setup) == nil, "a proof with a byte behind it is none")
    require(Self.proof(Array(bytes.dropLast()), setup) == nil, "a proof without its last byte is none")
    var transcript = Transcript(session: [1, 2, 3])
    transcript.write(bytes: proof.root)
    let check = PartCheck(&transcript, setup: setup, publicInputs: [.one], proof: proof)
    // Each check by itself, since no invented proof passes the first check.
    require((try? check.ligero.checkMerkle()) == nil, "no tree has columns that are made up")
    _ = try? check.checkRows()
    try? check.checkConstraints(values: [F](repeating: .zero, count: setup.shape.opened), threads: 1)
  }

  /// Proofs of zeros: with all columns in one run of whole elements, or in one of the subfield.
  private static func proofs<F>(_ setup: PartSetup<F>) -> [[UInt8]] {
    let shape = setup.shape
    let answers = shape.block + shape.doubleBlock + shape.opened + (shape.doubleBlock - shape.block)
    let start = 32 + (setup.circuit.sumcheckCount + answers) * F.byteCount + 32 * shape.opened
    let elements = shape.rows * shape.opened
    func count(_ number: Int) -> [UInt8] { [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } }
    func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    let digests = count(3) + zeros(3 * 32)
    return [
      zeros(start) + count(elements) + zeros(elements * F.byteCount) + digests,
      zeros(start) + count(0) + count(elements) + zeros(elements * F.subfieldByteCount) + digests,
    ]
  }
}
