import FuzzDriver

@testable import Longfellow

/// Circuit files of zero-knowledge proofs, compressed and unpacked.
///
/// Option: a file, the text of a pair of circuits, or the text of one circuit over either field.
struct CircuitTarget: FuzzTarget {
  static let name = "circuit"
  static let dictionary = [
    "\\x28\\xb5\\x2f\\xfd\\x80\\x60", "\\xff\\xff\\xff", "\\x01\\x00\\x00", "\\x01\\x04\\x00\\x00",
  ]

  private enum Form: Int, CaseIterable { case file, pair, overBytes, overP256 }

  let seeds: [[UInt8]]

  init(_ material: Material) throws {
    let (hash, signature) = (SmallCircuit<FieldGF128>.text, SmallCircuit<FieldP256>.text)
    func seed(_ form: Form, _ bytes: [UInt8]) -> [UInt8] { [UInt8(form.rawValue)] + bytes }
    seeds = [
      seed(.file, StoredFrame.of(signature + hash)), seed(.pair, signature + hash), seed(.overBytes, hash),
      seed(.overP256, signature),
    ]
    let readable = try Self.circuit(hash, FieldGF128.self)
    require(readable.inputs == 4, "the small circuit is one")
    _ = try Self.circuit(signature, FieldP256.self)
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let form = Form(rawValue: choices.byte() % Form.allCases.count) ?? .file
    let bytes = choices.bytes
    switch form {
    case .file: require(refuses(bytes), "what is no known circuit is refused")
    case .pair: require(refuses(StoredFrame.of(bytes)), "what is no known circuit is refused")
    case .overBytes: check(bytes, FieldGF128.self)
    case .overP256: check(bytes, FieldP256.self)
    }
  }

  private func refuses(_ file: [UInt8]) -> Bool { (try? CircuitPair(compressed: file)) == nil }

  private func check<F: ProofField>(_ text: [UInt8], _: F.Type) {
    guard let circuit = try? Self.circuit(text, F.self) else { return }
    require(circuit.publicInputs <= circuit.inputs, "public inputs are inputs")
    require(circuit.layers.last?.wires == circuit.inputs, "the last layer reads the inputs")
    require(text.suffix(32).elementsEqual(circuit.identifier), "the identifier is the one that was computed")
  }

  static func circuit<F: ProofField>(_ text: [UInt8], _: F.Type) throws -> Circuit<F> {
    var reader = CircuitReader(try FrameReader(StoredFrame.of(text)))
    let circuit: Circuit<F> = try reader.circuit()
    guard reader.isAtEnd else { throw LongfellowError.circuitMalformed }
    return circuit
  }
}
