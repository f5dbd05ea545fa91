import Longfellow

/// A circuit's sumcheck, run by the prover (draft-google-cfrg-libzk, Sumcheck). It contains the masked messages and the
/// resulting linear constraints on the committed values. The pads mask the messages.
struct SumcheckProver<F: ProverField> {
  private let circuit: Circuit<F>
  private let shape: CommitmentShape
  /// The committed values, including the pads.
  private let values: [F]
  private let two = F.point(2)
  private let lagrange = LagrangeOfThree<F>()

  /// The messages in the order of the proof.
  private(set) var messages: [F] = []
  /// For each layer, the coefficients of the previous layer's last three pads, then of the layer's own pads.
  private(set) var coefficients: [[F]] = []
  /// The factor of each input in the last constraint.
  private(set) var inputs: [F] = []
  /// The factor of the last layer's right wire in the last constraint.
  private(set) var gamma = F.zero

  init(
    _ transcript: inout Transcript, circuit: Circuit<F>, shape: CommitmentShape, values: [F],
    evaluation: Evaluation<F>
  ) {
    self.circuit = circuit
    self.shape = shape
    self.values = values
    transcript.write(bytes: circuit.identifier)
    let first = evaluation.wires[circuit.layers.count - 1]
    for index in 0..<circuit.publicInputs { transcript.write(element: first[index]) }
    transcript.write(element: F.zero)
    transcript.write(bytes: [UInt8](repeating: 0, count: circuit.terms))
    _ = transcript.elements(40, F.self)
    let start = Array(transcript.elements(40, F.self).prefix(circuit.logOutputs))
    let memory = LayerMemory(circuit)
    var points = [start, start]
    var claims = [F.zero, F.zero]
    var count = circuit.outputs
    for (index, layer) in circuit.layers.enumerated() {
      let (alpha, beta): (F, F) = (transcript.element(), transcript.element())
      let sum = LayerSum(
        layer, constants: circuit.constants.map { $0 == .zero ? beta : $0 }, one: circuit.indexOfOne,
        outputs: memory.factors(points, count: count, alpha), wires: evaluation.wires[index], memory: memory)
      var rounds = Rounds(layer: index, sum: sum, claim: claims[0] + alpha * claims[1], form: [.one, alpha, .zero])
      run(&rounds, &transcript)
      points = rounds.points
      claims = Hand.allCases.map { rounds.sum.wire($0) }
      count = layer.wires
    }
    gamma = transcript.element()
    inputs = Array(UnsafeBufferPointer(start: memory.factors(points, count: count, gamma), count: count))
  }

  /// The state between the rounds of a layer.
  private struct Rounds {
    let layer: Int
    var sum: LayerSum<F>
    /// The sum's value.
    var claim: F
    var points: [[F]] = [[], []]
    /// A verifier's claim, expressed as a linear form of pads.
    var form: [F]
  }

  private mutating func run(_ rounds: inout Rounds, _ transcript: inout Transcript) {
    let pads = shape.pads[rounds.layer]
    for round in 0..<circuit.layers[rounds.layer].logWires {
      var sent: [(F, F)] = []
      for hand in Hand.allCases {
        let (constant, square) = rounds.sum.polynomial(hand)
        // The values at 0 and 1 add up to the claim.
        let linear = rounds.claim - constant - constant - square
        let pad = pads.start + 4 * round + 2 * hand.rawValue
        let atZero = constant - values[pad]
        let atTwo = constant + two * (linear + two * square) - values[pad + 1]
        transcript.write(element: atZero)
        transcript.write(element: atTwo)
        sent.append((atZero, atTwo))
        let challenge: F = transcript.element()
        rounds.points[hand.rawValue].append(challenge)
        rounds.claim = constant + challenge * (linear + challenge * square)
        rounds.sum.bind(hand, challenge)
        lagrange.extend(&rounds.form, at: challenge)
      }
      messages += [sent[0].0, sent[1].0, sent[0].1, sent[1].1]
    }
    finish(&rounds, &transcript)
  }

  private mutating func finish(_ rounds: inout Rounds, _ transcript: inout Transcript) {
    let factor = rounds.sum.factor
    let first = shape.product(ofLayer: rounds.layer)
    let masked = Hand.allCases.map { rounds.sum.wire($0) - values[first + $0.rawValue] }
    assert(rounds.claim == factor * rounds.sum.wire(.left) * rounds.sum.wire(.right))
    transcript.write(array: masked[...])
    messages += masked
    // The claim is factor·(left + its pad)·(right + its pad).
    rounds.form += [.zero - factor * masked[1], .zero - factor * masked[0], .zero - factor]
    coefficients.append(rounds.form)
  }
}

/// The polynomial through the values at the three points of a round.
private struct LagrangeOfThree<F: ProofField> {
  private let two: F
  private let inverses: [F]

  init() {
    two = F.point(2)
    inverses = [two.inverse, (F.one - two).inverse, (two * (two - .one)).inverse]
  }

  /// Replaces the claim's linear form with the form of the polynomial's value at `x`. The value at 1 is the claim minus
  /// the value at 0. The values at 0 and 2 have new pads.
  func extend(_ form: inout [F], at x: F) {
    let atZero = (x - .one) * (x - two) * inverses[0]
    let atOne = x * (x - two) * inverses[1]
    for index in form.indices { form[index] = form[index] * atOne }
    form.append(atZero - atOne)
    form.append(x * (x - .one) * inverses[2])
  }
}

/// All wires of a circuit with given inputs (draft-google-cfrg-libzk, Circuits).
final class Evaluation<F: ProverField> {
  /// Each layer's input wires, then a zero. The circuit's outputs are not stored.
  let wires: [UnsafeMutablePointer<F>]

  /// Throws if an assertion or an output is not zero.
  init(_ circuit: Circuit<F>, inputs: [F]) throws(ProverError) {
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
      return F.evaluate(circuit.layers[0], constants: circuit.constants, one: one, wires: wires[0], outputs: outputs)
    }
    guard holds, outputs.allSatisfy({ $0 == .zero }) else { throw .circuitNotSatisfied }
  }

  deinit { for wires in wires { wires.deallocate() } }
}
