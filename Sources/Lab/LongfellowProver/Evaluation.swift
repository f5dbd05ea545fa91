import Longfellow

/// All wires of a circuit with given inputs (draft-google-cfrg-libzk, Circuits).
final class Evaluation<F: ProverField> {
  /// For each layer its input side's wires, and a zero after them: the circuit's outputs are not kept.
  let wires: [UnsafeMutablePointer<F>]

  /// Fails if an assertion or an output isn't zero.
  init(_ circuit: Circuit<F>, inputs: [F]) throws(ProverRefusal) {
    precondition(inputs.count == circuit.inputs)
    wires = circuit.layers.map { layer in
      let wires = UnsafeMutablePointer<F>.allocate(capacity: layer.wires + 1)
      wires.initialize(repeating: .zero, count: layer.wires + 1)
      return wires
    }
    inputs.withUnsafeBufferPointer { inputs in
      if let start = inputs.baseAddress { wires.last?.update(from: start, count: inputs.count) }
    }
    let one = circuit.indexOfOne
    for (index, layer) in circuit.layers.enumerated().dropFirst().reversed() {
      let holds = F.evaluate(
        layer, constants: circuit.constants, one: one, wires: wires[index], outputs: wires[index - 1])
      guard holds else { throw .circuitNotSatisfied }
    }
    var outputs = [F](repeating: .zero, count: circuit.outputs)
    let holds = outputs.withUnsafeMutableBufferPointer { outputs in
      guard let outputs = outputs.baseAddress else { return true }
      return F.evaluate(
        circuit.layers[0], constants: circuit.constants, one: one, wires: wires[0], outputs: outputs)
    }
    guard holds, outputs.allSatisfy({ $0 == .zero }) else { throw .circuitNotSatisfied }
  }

  deinit { for wires in wires { wires.deallocate() } }
}
