import Base

extension Circuit {
  /// Each layer's sum of its terms at the challenges (draft-google-cfrg-libzk, Sumcheck). The layers are independent.
  /// They take nearly all of a verification's time.
  func boundSums(_ challenges: CircuitChallenges<F>, threads: Int) -> [F] {
    // The largest layers first, so that no large layer starts last.
    let order = layers.indices.sorted { layers[$0].entries.count > layers[$1].entries.count }
    let one = constants.firstIndex(of: .one) ?? CircuitLayer.noConstant
    let sums = SharedWork.run(pieces: order.count, threads: threads, scratch: { [] as [F] }) { piece, outputs in
      let number = order[piece]
      let (layer, own) = (layers[number], challenges.layers[number])
      fill(&outputs, outputsOf: number, challenges)
      return F.bind(
        layer, constants: constants.map { $0 == .zero ? own.beta : $0 }, one: one, outputs: outputs,
        left: EqFactors(own.left, count: layer.wires), right: EqFactors(own.right, count: layer.wires))
    }
    var inOrder = sums
    for (number, sum) in zip(order, sums) { inOrder[number] = sum }
    return inOrder
  }

  /// Writes eq(first point, i) + factor · eq(second point, i) over a layer's outputs, which are the previous layer's
  /// wires. The layer number after the last one denotes the inputs.
  func fill(_ sums: inout [F], outputsOf number: Int, _ challenges: CircuitChallenges<F>) {
    let count = number == 0 ? outputs : layers[number - 1].wires
    let (first, second) =
      number == 0
      ? (challenges.outputPoint, challenges.outputPoint)
      : (challenges.layers[number - 1].left, challenges.layers[number - 1].right)
    let factor = number < layers.count ? challenges.layers[number].alpha : challenges.gamma
    if sums.count < count { sums = [F](repeating: .zero, count: count) }
    sums.withUnsafeMutableBufferPointer {
      F.fill(
        .init(rebasing: $0[..<count]), EqFactors(first, count: count), EqFactors(second, count: count, scale: factor))
    }
  }
}

/// eq(X, i) = Π (bit j of i ? X_j : 1 − X_j) over a layer's wires (draft-google-cfrg-libzk, Sumcheck), in two factors:
/// one for an index's low bits, one for the others. Both factors fit into the processor's caches. The whole vector
/// would take megabytes.
package struct EqFactors<F: ProofField>: Sendable {
  let lowBits: Int
  let low, high: [F]

  /// - Parameters:
  ///   - count: the number of indices.
  ///   - scale: a factor for all values.
  package init(_ challenges: [F], count: Int, scale: F = .one) {
    lowBits = challenges.count / 2
    low = eqVector(challenges[..<lowBits], count: 1 << lowBits, scale: .one)
    high = eqVector(challenges[lowBits...], count: (max(count, 1) - 1) >> lowBits + 1, scale: scale)
  }

  @inline(__always) func lowValue(_ index: Int) -> F { low[index & (1 << lowBits - 1)] }
  @inline(__always) func highValue(_ index: Int) -> F { high[index >> lowBits] }
  @inline(__always) func value(_ index: Int) -> F { lowValue(index) * highValue(index) }
}

/// The eq vector of these challenges over the first `count` indices, times the scale.
func eqVector<F: ProofField>(_ challenges: ArraySlice<F>, count: Int, scale: F) -> [F] {
  var vector = [F](repeating: .zero, count: max(count, 1))
  vector[0] = scale
  var filled = 1
  // Each challenge, from the last to the first, doubles the number of indices. It does so in place, from the top.
  for (position, challenge) in zip(challenges.indices, challenges).reversed() {
    for index in (0..<filled).reversed() {
      let high = vector[index] * challenge
      let low = vector[index] - high
      if 2 * index + 1 < vector.count { vector[2 * index + 1] = high }
      vector[2 * index] = low
    }
    // The number of indices without their lower bits.
    let bits = position - challenges.startIndex
    filled = min(2 * filled, max((count + (1 << bits) - 1) >> bits, 1))
  }
  return vector
}

/// Sumcheck's linear constraints (draft-google-cfrg-libzk, Sumcheck), summed with their challenges: Σ weights·values =
/// sum.
struct LinearConstraints<F: ProofField> {
  /// One weight for each committed value.
  private(set) var weights: [F]
  private(set) var sum = F.zero
  /// The index of each layer's first pad after the rounds. The pads are w_l, w_r and their product.
  private(set) var products: [Int] = []
  /// One right side for each constraint, for tests.
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
      // The outputs are zero, so the first claim is zero.
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

  /// Adds the last constraint: the last layer's wires are the inputs, and the public inputs are known.
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

/// A layer's claim: a known part, and a sum of the pads that mask the prover's values.
private struct MaskedClaim<F: ProofField> {
  private var known = F.zero
  /// Coefficients for the previous layer's pads (of both wires and of their product), then for each pad of this layer.
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

  /// Reduces the claim to a polynomial's value at a challenge. The polynomial has these masked values at 0 and at 2.
  /// Its value at 1 is the claim minus its value at 0.
  mutating func reduce(_ values: (atZero: F, atTwo: F), _ factors: (F, F, F)) {
    coefficients[pad] = coefficients[pad] - .one
    known = (known - values.atZero) * factors.1 + factors.0 * values.atZero + factors.2 * values.atTwo
    for index in 0...pad { coefficients[index] = coefficients[index] * factors.1 }
    coefficients[pad] = coefficients[pad] + factors.0
    coefficients[pad + 1] = coefficients[pad + 1] + factors.2
    pad += 2
  }

  /// Requires that the claim equals the bound sum times both wires. Returns the constraint's right side.
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
