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

/// eq(point, i) for the first `count` indices, times `scale`: Π (bit j of i ? point[j] : 1 − point[j]).
func equalities<F: ProverField>(_ point: [F], count: Int, scale: F) -> [F] {
  var vector = [F](repeating: .zero, count: count + 1)
  vector[0] = scale
  vector.withUnsafeMutableBufferPointer { vector in
    var filled = 1
    for (position, challenge) in point.enumerated().reversed() {
      // Of this and the challenges after it; an odd last one needs only its low half.
      let wanted = (count + (1 << position) - 1) >> position
      for index in (0..<min(filled, (wanted + 1) / 2)).reversed() {
        let high = vector[index] * challenge
        vector[2 * index] = vector[index] - high
        vector[2 * index + 1] = high
      }
      filled = min(2 * filled, wanted)
    }
  }
  vector.removeLast()
  return vector
}
