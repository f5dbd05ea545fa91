/// The challenges of one circuit's part of the transcript (draft-google-cfrg-libzk, Sumcheck and Ligero).
struct CircuitChallenges<F: ProofField> {
  struct Layer {
    let alpha, beta: F
    /// For each hand.
    var left: [F] = []
    var right: [F] = []
  }

  let outputPoint: [F]
  private(set) var layers: [Layer] = []
  let gamma: F
  let lowDegree, linear, quadratic, quadraticRows: [F]
  let columns: [Int]

  /// Replays the transcript over the proof; nothing is computed but hashes.
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
        // The proof has both hands' values at 0, then both hands' at P2.
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

/// The linear constraints to which sumcheck comes down, already summed with their challenges: Σ weights·values = sum.
struct LinearConstraints<F: ProofField> {
  /// For each committed value.
  private(set) var weights: [F]
  private(set) var sum = F.zero
  /// Of each layer's pads, the first of the three after the rounds: w_l, w_r and their product.
  private(set) var products: [Int] = []
  /// Each layer's bound sum and constraint's right side, for tests.
  private(set) var boundSums: [F] = []
  private(set) var rightSides: [F] = []

  init(_ circuit: Circuit<F>, challenges: CircuitChallenges<F>, publicInputs: [F], proof: CircuitProof<F>) {
    weights = [F](repeating: .zero, count: circuit.privateInputs + circuit.padCount)
    let lagrange = LagrangeAtThree<F>()
    let one = circuit.constants.firstIndex(of: .one) ?? 65_535
    var (start, pad) = (0, circuit.privateInputs)
    var known = F.zero
    // One vector for all layers, each of which takes its front: the largest has a million wires.
    var outputs = [F](repeating: .zero, count: circuit.layers.reduce(circuit.outputs) { max($0, $1.wires) })
    outputs.fill(
      circuit.outputs, EqFactors(challenges.outputPoint, count: circuit.outputs),
      EqFactors(challenges.outputPoint, count: circuit.outputs, scale: challenges.layers[0].alpha))
    for (number, layer) in circuit.layers.enumerated() {
      let own = challenges.layers[number]
      // The pads' coefficients: the previous layer's three, then this layer's.
      var coefficients = [F](repeating: .zero, count: 3 + 4 * layer.logWires + 3)
      if number > 0 {
        coefficients[0] = .one
        coefficients[1] = own.alpha
        known = proof.sumcheck[start - 2] + own.alpha * proof.sumcheck[start - 1]
      }
      for round in 0..<layer.logWires {
        for hand in 0..<2 {
          let atZero = proof.sumcheck[start + 4 * round + hand]
          let atTwo = proof.sumcheck[start + 4 * round + 2 + hand]
          let slot = 3 + 4 * round + 2 * hand
          let factors = lagrange.factors(at: hand == 0 ? own.left[round] : own.right[round])
          known = known - atZero
          coefficients[slot] = coefficients[slot] - .one
          known = known * factors.1 + factors.0 * atZero + factors.2 * atTwo
          for index in 0..<(slot + 1) { coefficients[index] = coefficients[index] * factors.1 }
          coefficients[slot] = coefficients[slot] + factors.0
          coefficients[slot + 1] = coefficients[slot + 1] + factors.2
        }
      }
      start += 4 * layer.logWires + 2
      let left = EqFactors(own.left, count: layer.wires)
      let right = EqFactors(own.right, count: layer.wires)
      let constants = circuit.constants.map { $0 == .zero ? own.beta : $0 }
      let bound = F.bind(layer, constants: constants, one: one, outputs: outputs, left: left, right: right)
      let (wireLeft, wireRight) = (proof.sumcheck[start - 2], proof.sumcheck[start - 1])
      let rightSide = bound * wireLeft * wireRight - known
      let last = 3 + 4 * layer.logWires
      coefficients[last] = coefficients[last] - bound * wireRight
      coefficients[last + 1] = coefficients[last + 1] - bound * wireLeft
      coefficients[last + 2] = coefficients[last + 2] - bound
      for (index, coefficient) in coefficients.enumerated() where number > 0 || index >= 3 {
        let value = pad - 3 + index
        weights[value] = weights[value] + coefficient * challenges.linear[number]
      }
      boundSums.append(bound)
      rightSides.append(rightSide)
      sum = sum + rightSide * challenges.linear[number]
      products.append(pad + 4 * layer.logWires)
      pad += 4 * layer.logWires + 3
      // The next layer's outputs are this one's wires.
      let next = number + 1 < circuit.layers.count ? challenges.layers[number + 1].alpha : challenges.gamma
      outputs.fill(layer.wires, left, EqFactors(own.right, count: layer.wires, scale: next))
    }
    // The inputs.
    let scale = challenges.linear[circuit.layers.count]
    var rightSide = proof.sumcheck[start - 2] + challenges.gamma * proof.sumcheck[start - 1]
    for (index, input) in publicInputs.enumerated() { rightSide = rightSide - outputs[index] * input }
    for index in 0..<circuit.privateInputs {
      weights[index] = weights[index] + outputs[circuit.publicInputs + index] * scale
    }
    weights[pad - 3] = weights[pad - 3] - scale
    weights[pad - 2] = weights[pad - 2] - challenges.gamma * scale
    rightSides.append(rightSide)
    sum = sum + rightSide * scale
  }
}

extension Array where Element: ProofField {
  /// Writes the sum of two eq vectors over the first `count` elements.
  fileprivate mutating func fill(_ count: Int, _ first: EqFactors<Element>, _ second: EqFactors<Element>) {
    withUnsafeMutableBufferPointer { Element.fill(.init(rebasing: $0[..<count]), first, second) }
  }
}

/// Lagrange coefficients for the three points of a round.
private struct LagrangeAtThree<F: ProofField> {
  private let two = F.point(2)
  private let inverse0, inverse1, inverse2: F

  init() {
    inverse0 = two.inverse
    inverse1 = (F.one - two).inverse
    inverse2 = (two * (two - .one)).inverse
  }

  func factors(at x: F) -> (F, F, F) {
    ((x - .one) * (x - two) * inverse0, x * (x - two) * inverse1, x * (x - .one) * inverse2)
  }
}
