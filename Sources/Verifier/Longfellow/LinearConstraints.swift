/// The linear constraints to which sumcheck comes down (draft-google-cfrg-libzk, Sumcheck), already summed with their challenges: Σ weights·values = sum.
struct LinearConstraints<F: ProofField> {
  /// For each committed value.
  private(set) var weights: [F]
  private(set) var sum = F.zero
  /// Of each layer's pads, the first of the three after the rounds: w_l, w_r and their product.
  private(set) var products: [Int] = []
  /// Of each constraint, for tests.
  private(set) var rightSides: [F] = []

  init(
    _ circuit: Circuit<F>, boundSums: [F], challenges: CircuitChallenges<F>, publicInputs: [F],
    proof: CircuitProof<F>
  ) {
    weights = [F](repeating: .zero, count: circuit.privateInputs + circuit.padCount)
    let lagrange = LagrangeAtThree<F>()
    var (start, pad) = (0, circuit.privateInputs)
    for (number, layer) in circuit.layers.enumerated() {
      let own = challenges.layers[number]
      var claim = MaskedClaim<F>(rounds: layer.logWires)
      // Nothing is claimed of the outputs but that they are zero.
      if number > 0 { claim.start(proof.sumcheck[start - 2], proof.sumcheck[start - 1], factor: own.alpha) }
      for round in 0..<layer.logWires {
        for hand in 0..<2 {
          let values = (proof.sumcheck[start + hand], proof.sumcheck[start + 2 + hand])
          claim.reduce(values, lagrange.factors(at: hand == 0 ? own.left[round] : own.right[round]))
        }
        start += 4
      }
      let (wireLeft, wireRight) = (proof.sumcheck[start], proof.sumcheck[start + 1])
      start += 2
      let rightSide = claim.finish(wireLeft, wireRight, boundSum: boundSums[number])
      for (index, coefficient) in claim.coefficients.enumerated() where number > 0 || index >= 3 {
        let value = pad - 3 + index
        weights[value] = weights[value] + coefficient * challenges.linear[number]
      }
      rightSides.append(rightSide)
      sum = sum + rightSide * challenges.linear[number]
      products.append(pad + 4 * layer.logWires)
      pad += 4 * layer.logWires + 3
    }
    addInputs(circuit, challenges: challenges, publicInputs: publicInputs, wires: proof.sumcheck.suffix(2))
  }

  /// The last constraint: the wires of the last layer are the inputs, of which some are known.
  private mutating func addInputs(
    _ circuit: Circuit<F>, challenges: CircuitChallenges<F>, publicInputs: [F], wires: ArraySlice<F>
  ) {
    var outputs: [F] = []
    circuit.fill(&outputs, outputsOf: circuit.layers.count, challenges)
    let scale = challenges.linear[circuit.layers.count]
    var rightSide = wires[wires.startIndex] + challenges.gamma * wires[wires.startIndex + 1]
    for (index, input) in publicInputs.enumerated() { rightSide = rightSide - outputs[index] * input }
    for index in 0..<circuit.privateInputs {
      weights[index] = weights[index] + outputs[circuit.publicInputs + index] * scale
    }
    let pads = weights.count - 3
    weights[pads] = weights[pads] - scale
    weights[pads + 1] = weights[pads + 1] - challenges.gamma * scale
    rightSides.append(rightSide)
    sum = sum + rightSide * scale
  }
}

/// What a layer claims, of which all that the prover sends is masked: a known part, and a sum of pads.
private struct MaskedClaim<F: ProofField> {
  private var known = F.zero
  /// Of the previous layer's pads of both wires and their product, then of this layer's pads.
  private(set) var coefficients: [F]
  /// The next round's first pad.
  private var pad = 3

  init(rounds: Int) { coefficients = [F](repeating: .zero, count: 3 + 4 * rounds + 3) }

  /// Starts with the previous layer's masked wires.
  mutating func start(_ left: F, _ right: F, factor: F) {
    known = left + factor * right
    coefficients[0] = .one
    coefficients[1] = factor
  }

  /// Goes on to the value at a challenge of the polynomial that has these masked values at 0 and at 2, and the rest of
  /// the claim at 1.
  mutating func reduce(_ values: (atZero: F, atTwo: F), _ factors: (F, F, F)) {
    coefficients[pad] = coefficients[pad] - .one
    known = (known - values.atZero) * factors.1 + factors.0 * values.atZero + factors.2 * values.atTwo
    for index in 0...pad { coefficients[index] = coefficients[index] * factors.1 }
    coefficients[pad] = coefficients[pad] + factors.0
    coefficients[pad + 1] = coefficients[pad + 1] + factors.2
    pad += 2
  }

  /// Demands that the claim is the bound sum times both wires, and returns the constraint's right side.
  mutating func finish(_ left: F, _ right: F, boundSum: F) -> F {
    coefficients[pad] = coefficients[pad] - boundSum * right
    coefficients[pad + 1] = coefficients[pad + 1] - boundSum * left
    coefficients[pad + 2] = coefficients[pad + 2] - boundSum
    return boundSum * left * right - known
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
