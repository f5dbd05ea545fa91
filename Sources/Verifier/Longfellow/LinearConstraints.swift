/// The linear constraints to which sumcheck comes down, already summed with their challenges: Σ weights·values = sum.
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
    var known = F.zero
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
      let bound = boundSums[number]
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
      rightSides.append(rightSide)
      sum = sum + rightSide * challenges.linear[number]
      products.append(pad + 4 * layer.logWires)
      pad += 4 * layer.logWires + 3
    }
    // The inputs.
    var outputs: [F] = []
    circuit.fill(&outputs, outputsOf: circuit.layers.count, challenges)
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
