import Longfellow

/// All wires of a circuit with given inputs (draft-google-cfrg-libzk, Circuits).
struct Evaluation<F: ProverField> {
  /// For each layer its input side's wires: the circuit's outputs are not kept.
  let wires: [[F]]

  /// Fails if an assertion or an output isn't zero.
  init(_ circuit: Circuit<F>, inputs: [F]) throws(ProverRefusal) {
    precondition(inputs.count == circuit.inputs)
    var wires = [inputs]
    let one = circuit.indexOfOne
    for (index, layer) in circuit.layers.enumerated().reversed() {
      let count = index > 0 ? circuit.layers[index - 1].wires : circuit.outputs
      var outputs = [F](repeating: .zero, count: count)
      let holds = wires[wires.count - 1].withUnsafeBufferPointer { wires in
        outputs.withUnsafeMutableBufferPointer { outputs in
          guard let wires = wires.baseAddress, let outputs = outputs.baseAddress else { return true }
          return F.evaluate(layer, constants: circuit.constants, one: one, wires: wires, outputs: outputs)
        }
      }
      guard holds else { throw .circuitNotSatisfied }
      wires.append(outputs)
    }
    guard wires.removeLast().allSatisfy({ $0 == .zero }) else { throw .circuitNotSatisfied }
    self.wires = wires.reversed()
  }
}
